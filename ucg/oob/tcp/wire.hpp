// Wire format of the TCP store: frames between rank 0 and the other ranks. All numbers are little
// endian.
//
// A connection begins with the key handshake (ucs/security/key_handshake.hpp), in which the other
// rank is the client. Frames follow:
//
// A header begins each frame. Its content depends on the kind:
//
//   to rank 0:    hello       no content; the first frame
//                 block       the sender's block of the round
//                 late        no content; the sender's deadline for the round has passed
//                 published   a block that other ranks may look up; the round is its number
//                 lookup      u32: rank whose block of a number (the round) is requested
//                 withdrawn   no content; the sender looks up no block of this number any more
//   from rank 0:  welcome     no content; the reply to hello
//                 blocks      the blocks of all ranks
//                 failure     the round, or the sender's hello, has failed
//                 reply       i32 status, u32 rank, then the rank's block or nothing
//
//   failure: i32 status, u32 number of ranks that caused it, then the first of them, u32 each
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

enum class frame_kind : std::uint16_t {
    hello = 1,
    welcome,
    block,
    blocks,
    late,
    failure,
    published,
    lookup,
    withdrawn,
    reply
};

inline constexpr std::size_t max_published = 64 * 1024;

struct header {
    static constexpr std::size_t size = 40;
    static constexpr std::uint64_t max_content = std::uint64_t{1} << 40;

    constexpr header() noexcept = default;
    constexpr header(frame_kind of_kind, rank_t sender, rank_t rank_count, std::uint64_t of_job = 0,
                     std::uint64_t number = 0, std::uint64_t length = 0) noexcept
        : kind(of_kind),
          from(sender),
          ranks(rank_count),
          job(of_job),
          round(number),
          content(length) {}

    std::uint32_t magic = 0x424f4f48;  // "HOOB"
    std::uint16_t version = 2;         // other versions are refused
    frame_kind kind = frame_kind::hello;
    rank_t from = 0;  // the sender
    rank_t ranks = 1;
    std::uint64_t job = 0;      // hash of the job's name, 0 for none
    std::uint64_t round = 0;    // round, or number of a publication; 0 if unused
    std::uint64_t content = 0;  // length of the content that follows
};
static_assert(sizeof(header) == 40 && sizeof(header) == header::size);
using header_bytes = std::array<std::byte, header::size>;

// The status of a failed round, and the ranks that caused the failure: the first ones, and their
// number.
struct failure {
    static constexpr std::size_t max_listed = 64;
    static constexpr std::size_t max_bytes = 8 + 4 * max_listed;

    ucs_status_t status = UCS_ERR_IO_ERROR;
    std::uint32_t count = 0;
    std::vector<rank_t> first{};
};

// Precedes the block in a reply.
struct reply_head {
    static constexpr std::size_t size = 8;

    ucs_status_t status = UCS_OK;
    rank_t rank = 0;
};

// Makes a failure that counts all of `culprits` and lists the first ones.
[[nodiscard]] failure make_failure(ucs_status_t status, std::span<const rank_t> culprits);

void pack(const header& from, std::span<std::byte, header::size> into) noexcept;
// Returns nothing if the bytes are no header of this protocol, or if the length does not fit the
// kind.
[[nodiscard]] std::optional<header> parse(std::span<const std::byte, header::size> bytes) noexcept;

// Returns the number of bytes written.
std::size_t pack(const failure& from, std::span<std::byte, failure::max_bytes> into) noexcept;
// Returns nothing if the bytes are malformed. The ranks ascend and are below `ranks`.
[[nodiscard]] std::optional<failure> parse_failure(std::span<const std::byte> bytes, rank_t ranks);

void pack(const reply_head& from, std::span<std::byte, reply_head::size> into) noexcept;
// Returns nothing if the bytes are malformed.
[[nodiscard]] std::optional<reply_head> parse_reply(
    std::span<const std::byte, reply_head::size> bytes, rank_t ranks) noexcept;
void pack_lookup(rank_t rank, std::span<std::byte, sizeof(rank_t)> into) noexcept;
[[nodiscard]] rank_t parse_lookup(std::span<const std::byte, sizeof(rank_t)> bytes) noexcept;

}  // namespace ucg::oob::wire
