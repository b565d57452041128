// What goes over the connections between rank 0 and the others. All numbers are little endian.
//
// First the opening (ucs/security/opening.hpp), in which the other rank is the client. Then frames:
//
//   header, 40 bytes, before everything:
//      0  u32  magic "HOOB"
//      4  u16  version, 2: another one is refused
//      6  u16  kind
//      8  u32  rank of the sender
//     12  u32  number of ranks
//     16  u64  hash of the job's name, 0 for none
//     24  u64  round; 0 where it means nothing
//     32  u64  bytes that follow
//
//   to rank 0:    hello       nothing follows; the first frame
//                 block       the sender's block of the round
//                 late        nothing follows: its time for the round is over
//                 published   a block that others may look up; the round is its number
//                 question    u32: of which rank the block of a number (the round) is wanted
//                 withdrawn   nothing follows: the sender asks for no block of a number any more
//   from rank 0:  welcome     nothing follows; the answer to hello
//                 blocks      the blocks of all ranks
//                 failure     the round, or the greeting, has failed for everybody
//                 answer      i32 status, u32 rank, then that rank's block of a number, or nothing
//
//   failure: i32 status, u32 how many ranks are at fault, then the first of them, u32 each
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ucg/oob/rank_list.hpp"
#include "ucs/type/status.h"

namespace ucg::oob::wire {

enum class kind : std::uint16_t {
    hello = 1,
    welcome,
    block,
    blocks,
    late,
    failure,
    published,
    question,
    withdrawn,
    answer
};

inline constexpr std::size_t most_published = 64 * 1024;

struct header {
    static constexpr std::size_t size = 40;
    static constexpr std::uint64_t most_content = std::uint64_t{1} << 40;

    kind what = kind::hello;
    rank_t from = 0;
    rank_t ranks = 1;
    std::uint64_t job = 0;
    std::uint64_t round = 0;
    std::uint64_t content = 0;
};
using header_bytes = std::array<std::byte, header::size>;

// Why a round failed, and the ranks that are to blame: the first ones, and how many in all.
struct failure {
    static constexpr std::size_t most_listed = 64;
    static constexpr std::size_t most_bytes = 8 + 4 * most_listed;

    ucs_status_t why = UCS_ERR_IO_ERROR;
    std::uint32_t count = 0;
    std::vector<rank_t> first{};
};

// What precedes the block in an answer.
struct answer_head {
    static constexpr std::size_t size = 8;

    ucs_status_t status = UCS_OK;
    rank_t of = 0;
};

// All of the culprits are counted, and the first ones named.
[[nodiscard]] failure blame(ucs_status_t why, std::span<const rank_t> culprits);

void pack(const header& from, std::span<std::byte, header::size> into) noexcept;
// Nothing: not a frame of ours, or lengths that do not fit its kind.
[[nodiscard]] std::optional<header> parse(std::span<const std::byte, header::size> bytes) noexcept;

// The number of bytes written.
std::size_t pack(const failure& from, std::span<std::byte, failure::most_bytes> into) noexcept;
// Nothing: malformed. The ranks ascend and are below `ranks`.
[[nodiscard]] std::optional<failure> parse_failure(std::span<const std::byte> bytes, rank_t ranks);

void pack(const answer_head& from, std::span<std::byte, answer_head::size> into) noexcept;
// Nothing: malformed.
[[nodiscard]] std::optional<answer_head> parse_answer(
    std::span<const std::byte, answer_head::size> bytes, rank_t ranks) noexcept;
void pack_question(rank_t of, std::span<std::byte, sizeof(rank_t)> into) noexcept;
[[nodiscard]] rank_t parse_question(std::span<const std::byte, sizeof(rank_t)> bytes) noexcept;

}  // namespace ucg::oob::wire
