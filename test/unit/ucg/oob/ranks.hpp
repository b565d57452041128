// Helpers for tests: ranks that exchange blocks, as threads or as processes.
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

// The program of one rank. Returns an error text; empty: success.
using rank_body = std::function<std::string(std::uint32_t rank)>;

// Runs the body on each rank, and returns the error texts of all. If one rank ends early, the other
// ranks report the consequences, too. A process that runs longer than long_enough is killed, which
// is an error as well; a process that kills itself by SIGKILL is no error.
[[nodiscard]] std::string run_as_threads(std::uint32_t ranks, const rank_body& body);
[[nodiscard]] std::string run_as_processes(std::uint32_t ranks, const rank_body& body);

// Returns the status with which an active round ends on this rank, and releases the round.
[[nodiscard]] ucs_status_t finish(const ucg_oob_t& oob, void* request) noexcept;
// Runs a round, mostly asleep.
[[nodiscard]] ucs_status_t gather(const ucg_oob_t& oob, const void* send, void* recv,
                                  std::size_t bytes) noexcept;

// Runs a round of `bytes` bytes with a pattern of rank and round. Returns an error text for a wrong
// status or content.
[[nodiscard]] std::string check_round(const ucg_oob_t& oob, unsigned round, std::size_t bytes);

// Publishes a block, runs a round, looks up the blocks of all ranks concurrently with the other
// ranks, runs another round, and withdraws the block. All ranks call this. `number` counts the
// earlier calls.
[[nodiscard]] std::string check_lookups(const ucg_oob_t& oob, std::uint64_t number,
                                        std::size_t bytes);
// Repeats a look-up until it ends, and serves requests of other ranks meanwhile.
[[nodiscard]] ucs_status_t look_up(const ucg_oob_t& oob, std::uint64_t number, std::uint32_t rank,
                                   std::vector<std::byte>& into);

// Runs rounds before, during and after forks of children that destroy their copies of the object.
// One child does so during a round. All ranks call this.
[[nodiscard]] std::string rounds_around_children(oob_handle& oob);

// Runs rounds until one fails. The failure must be `expected`.
[[nodiscard]] std::string expect_failure(const ucg_oob_t& oob, ucs_status_t expected,
                                         std::size_t bytes = 8);

// Returns a free port of the loopback address.
[[nodiscard]] std::uint16_t free_port();

// Timeout in seconds for rounds that should end without it. It is a little below ctest's limit for
// a test case: no rank fails on a slow machine, and if a round hangs, the log still names the
// missing ranks.
inline constexpr double long_enough = 100;

// An exchange before its ranks join it.
struct exchange {
    // The program of one rank, with its object. Returns an error text; empty: success.
    using body = std::function<std::string(oob_handle&)>;

    std::uint32_t size;
    std::function<oob_handle(std::uint32_t rank)> join;

    // Joins all ranks, and runs the body on each.
    [[nodiscard]] std::string on_threads(const body& run) const;
    [[nodiscard]] std::string on_processes(const body& run) const;
};

// A TCP store at a port of its own.
[[nodiscard]] exchange tcp_exchange(std::uint32_t size);

// Makes a rank of a TCP store at the loopback address; null if that fails.
[[nodiscard]] oob_handle tcp_rank(std::uint32_t rank, std::uint32_t size, std::uint16_t port,
                                  double timeout = long_enough, const char* job = nullptr);
// Makes a rank of an exchange over a folder; null if that fails.
[[nodiscard]] oob_handle folder_rank(std::uint32_t rank, std::uint32_t size,
                                     const std::string& path, const char* job,
                                     double timeout = long_enough);

}  // namespace test
