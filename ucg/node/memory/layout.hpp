// Layout of the memory that the ranks of one node share.
//
//   0            header: geometry of the memory; one page, written before any other rank attaches
//   controls     256 bytes of each rank: its counters (written by it alone), its sleep mark
//   mailboxes    some of each rank, used in turn: u64 operation + 1, u64 entry, content
//   slots        some of each rank, used in turn: `slot_bytes` of content each, without gaps
//   rings        one of each ordered pair of ranks: control (256 bytes), content
//
// A file may hold several of these layouts one after the other, each for a group of the same ranks.
// The first page of the file describes them all; the first pages of the others are used for
// `sleepers` only.
//
// Each word has one writer, except the sleep marks and the count of sleepers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ucs/type/status.h"

namespace ucg::node {

using rank_t = std::uint32_t;

inline constexpr std::size_t line = 64;
// The hardware fetches lines in pairs, so data of different writers is that far apart.
inline constexpr std::size_t line_pair = 128;
inline constexpr std::size_t page = 4096;

// At the beginning of the memory.
struct header {
    static constexpr std::uint64_t right_magic = 0x33656e6574776168;

    std::uint64_t magic;
    std::uint32_t ranks, mailboxes, mailbox_bytes, slots, slot_bytes, ring_bytes, copies;
    // Number of sleeping ranks. The count is too high if a sleeping rank died; then some wakeups
    // have no receiver.
    alignas(line_pair) std::uint32_t sleepers;
};

// The state that a rank publishes to all others. The counters increase for as long as the group
// lives.
struct control {
    alignas(line_pair) std::uint64_t entered;  // operations begun
    std::uint64_t entry;                       // call_signature of the last operation:
    std::uint64_t count, rest;                 // three words
    std::uint64_t given;                       // slots before this one hold the rank's input
    std::uint64_t worked;                      // slots before this one passed the first work stage
    std::uint64_t taken;                       // the rank no longer reads any slot before this one
    std::uint64_t failed;        // 0, the negated status if the rank failed the group, or has_left
    std::uint64_t worked_again;  // as `worked`, of the second work stage
    std::uint64_t silent;    // 0, or the negated reason why it no longer sends or reads messages
    std::uint64_t begun[2];  // operations over messages that it began, of each series
    alignas(line_pair) std::uint32_t sleeps;  // set by the rank, cleared by the rank that wakes it
};

inline constexpr std::uint64_t has_left = 1000;  // of `failed`: the rank has left in order
// Sentinel in the counters and the mailbox of a rank: this rank has failed; the operation cannot
// complete.
inline constexpr std::uint64_t gave_up = ~std::uint64_t{0};

// Precedes the content of a mailbox, in the same line as its first 48 bytes.
struct mailbox_head {
    std::uint64_t number;  // of its operation, plus 1; written last
    std::uint64_t entry;   // as in control
};

// Control of the ring from one rank to another.
struct ring_control {
    alignas(line_pair) std::uint64_t written;  // bytes, by the sender
    std::uint64_t disowned;  // position of the content of a canceled message, by the sender
    alignas(line_pair) std::uint64_t read;  // bytes, by the receiver
};
static_assert(sizeof(control) == 2 * line_pair && sizeof(ring_control) == 2 * line_pair);
static_assert(sizeof(mailbox_head) == 16 && sizeof(header) <= page);

[[nodiscard]] constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
    return (value + multiple - 1) / multiple * multiple;
}

// All ranks must use the same geometry. Value type; the number of ranks is limited only by memory.
struct geometry {
    std::uint32_t ranks = 1;
    std::uint32_t mailboxes = 4;         // a power of two: mailbox_at() divides nothing
    std::uint32_t mailbox_bytes = 4096;  // of content
    std::uint32_t slots = 64;
    std::uint32_t slot_bytes = 32 * 1024;
    std::uint32_t ring_bytes = 32 * 1024;

    static constexpr std::uint32_t max_ranks = 4096;

    // There are at least two mailboxes and two slots, so that a rank that has finished one
    // operation may begin the next while others still read. A segment has a line for each rank, so
    // that every collective can advance.
    [[nodiscard]] constexpr bool valid() const noexcept {
        return ranks >= 1 && ranks <= max_ranks && mailboxes >= 2 && mailboxes <= 1024 &&
               std::has_single_bit(mailboxes) && mailbox_bytes >= 48 && mailbox_bytes <= 1U << 20 &&
               slots >= 2 && slots <= 1024 && slot_bytes % page == 0 &&
               longest_segment() / line >= ranks && slot_bytes <= 1U << 26 &&
               ring_bytes % line == 0 && ring_bytes >= 512 && ring_bytes <= 1U << 24;
    }

    [[nodiscard]] constexpr std::size_t mailbox_stride() const noexcept {
        return round_up(sizeof(mailbox_head) + mailbox_bytes, line_pair);
    }
    [[nodiscard]] constexpr std::size_t ring_stride() const noexcept {
        return round_up(sizeof(ring_control) + ring_bytes, page);
    }

    [[nodiscard]] constexpr std::size_t control_at(rank_t rank) const noexcept {
        return page + std::size_t{rank} * sizeof(control);
    }
    [[nodiscard]] constexpr std::size_t mailbox_at(rank_t rank,
                                                   std::uint64_t number) const noexcept {
        return round_up(control_at(ranks), page) +
               (std::size_t{rank} * mailboxes + (number & (mailboxes - 1))) * mailbox_stride();
    }
    [[nodiscard]] constexpr std::size_t slot_at(rank_t rank, std::uint64_t number) const noexcept {
        return round_up(mailbox_at(ranks, 0), page) +
               (std::size_t{rank} * slots + number % slots) * slot_bytes;
    }
    [[nodiscard]] constexpr std::size_t ring_at(rank_t from, rank_t to) const noexcept {
        return slot_at(ranks, 0) + (std::size_t{from} * ranks + to) * ring_stride();
    }
    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return ring_at(ranks, 0); }

    // A long segment takes a row of adjacent slots of a rank. The length of a row is a power of two
    // that divides the number of slots, so that each row begins at a multiple of it. There are at
    // least two such rows.
    [[nodiscard]] constexpr std::uint32_t longest_row() const noexcept {
        std::uint32_t row = 4;
        while (row > 1 && (slots % row != 0 || slots / row < 2))
            row /= 2;
        return row;
    }
    [[nodiscard]] constexpr std::uint32_t row_for(std::size_t bytes) const noexcept {
        return static_cast<std::uint32_t>(
            std::bit_ceil(std::max<std::size_t>((bytes + slot_bytes - 1) / slot_bytes, 1)));
    }
    // Returns the most bytes that a segment can have.
    [[nodiscard]] constexpr std::size_t longest_segment() const noexcept {
        return std::size_t{longest_row()} * slot_bytes;
    }

    bool operator==(const geometry&) const = default;
};

[[nodiscard]] inline std::uint64_t word_of(ucs_status_t why) noexcept {
    return static_cast<std::uint64_t>(-int{why});
}

// Other ranks may write anything: a word that is no failure becomes UCS_ERR_IO_ERROR.
[[nodiscard]] inline ucs_status_t status_in(std::uint64_t word) noexcept {
    const bool is_valid = word >= 1 && word <= word_of(UCS_ERR_LAST);
    return is_valid ? static_cast<ucs_status_t>(-static_cast<int>(word)) : UCS_ERR_IO_ERROR;
}

}  // namespace ucg::node
