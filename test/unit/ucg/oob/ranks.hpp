// Ranks that exchange blocks, as threads or as processes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ucg/api/ucg_oob.h"

namespace test {

struct destroy_oob {
    void operator()(ucg_oob_t* oob) const noexcept { ucg_oob_destroy(oob); }
};
using oob_handle = std::unique_ptr<ucg_oob_t, destroy_oob>;

// What a rank does; the text says what is wrong, empty is good.
using rank_body = std::function<std::string(std::uint32_t rank)>;

// Runs a body per rank, and gives the complaints of all: where one ends early, the others complain
// only of what follows from it. A process that is still there after long_enough is killed, which
// is a complaint as well; one that kills itself by SIGKILL is not.
[[nodiscard]] std::string run_as_threads(std::uint32_t ranks, const rank_body& body);
[[nodiscard]] std::string run_as_processes(std::uint32_t ranks, const rank_body& body);

// A round of `bytes` bytes of a pattern of rank and round; complains of a wrong status or content.
[[nodiscard]] std::string check_round(const ucg_oob_t& oob, unsigned round, std::size_t bytes);

// Publishes a block, meets the others, looks the blocks of all up while the others do so, meets
// them again, and withdraws it. All ranks do so. `number`: how often this was done before.
[[nodiscard]] std::string check_lookups(const ucg_oob_t& oob, std::uint64_t number,
                                        std::size_t bytes);
// Asks until there is an answer; answers others meanwhile.
[[nodiscard]] ucs_status_t look_up(const ucg_oob_t& oob, std::uint64_t number, std::uint32_t rank,
                                   std::vector<std::byte>& into);

// Rounds before, around and after forks of children that destroy their copies of the object, one of
// them while a round is under way. All ranks do so.
[[nodiscard]] std::string rounds_around_children(oob_handle& oob);

// Begins rounds until one ends with another status than UCS_OK, which must be `expected`.
[[nodiscard]] std::string expect_failure(const ucg_oob_t& oob, ucs_status_t expected,
                                         std::size_t bytes = 8);

// A port of the loopback address that nobody listens at.
[[nodiscard]] std::uint16_t free_port();

// For rounds that are to end by themselves, in seconds. Little less than ctest gives a test case:
// no rank gives up on a slow machine, and if nothing moves, the log still says who waited for whom.
inline constexpr double long_enough = 100;

// A rank of a store at the loopback address; none: creation failed.
[[nodiscard]] oob_handle tcp_rank(std::uint32_t rank, std::uint32_t size, std::uint16_t port,
                                  double timeout = long_enough, const char* job = nullptr);
// A rank that meets the others in a folder.
[[nodiscard]] oob_handle folder_rank(std::uint32_t rank, std::uint32_t size,
                                     const std::string& path, const char* job,
                                     double timeout = long_enough);

}  // namespace test
