// Where everything lies in the memory that the ranks of one node share.
//
//   0            who made it and for what: one page, written before anybody else attaches
//   controls     256 bytes of each rank: its counters (written by it alone), its sleep mark
//   mailboxes    of each rank some, used in turn: u64 operation + 1, u64 entry, content
//   slots        of each rank some, used in turn: `slot_bytes` of content each, without gaps
//   rings        of each pair of ranks one: control (256 bytes), content
//
// A file may hold several of these one after the other, each for a group of the same ranks. The
// first page of the file describes them all; in those of the others only `sleepers` is used.
//
// Nothing but the sleep mark and a count of sleepers has two writers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ucg::node {

using rank_t = std::uint32_t;

inline constexpr std::size_t line = 64;
// The hardware fetches lines in pairs: what different ranks write lies that far apart.
inline constexpr std::size_t line_pair = 128;
inline constexpr std::size_t page = 4096;

// First in the segment.
struct header {
    static constexpr std::uint64_t right_magic = 0x33656e6574776168;

    std::uint64_t magic;
    std::uint32_t ranks, mailboxes, mailbox_bytes, slots, slot_bytes, ring_bytes, copies;
    // How many sleep. May be too high after the death of one that did; then calls go nowhere.
    alignas(line_pair) std::uint32_t sleepers;
};

// What a rank tells all others. The counters count up for as long as the group lives.
struct control {
    alignas(line_pair) std::uint64_t entered;  // operations begun
    std::uint64_t entry;                       // which one is the last, and with what arguments:
    std::uint64_t count, rest;                 // three words of a claim
    std::uint64_t given;                       // slots: its input lies in all before
    std::uint64_t worked;                      // it is through the first stage between
    std::uint64_t taken;                       // it looks at nobody's slot any more
    std::uint64_t failed;        // 0, or why it gave the group up (a status, negated), or has_left
    std::uint64_t worked_again;  // as `worked`, of the second stage
    std::uint64_t silent;        // it sends no more messages, and reads none: 0, or why (negated)
    std::uint64_t begun[2];      // operations over messages, of each series
    alignas(line_pair) std::uint32_t sleeps;  // set by it, cleared by whoever wakes it
};

inline constexpr std::uint64_t has_left = 1000;  // of `failed`: in order
// Of the counters of a rank that gave up, and of its mailbox: what it began nobody else completes.
inline constexpr std::uint64_t gave_up = ~std::uint64_t{0};

// Before the content of a mailbox, in the same line as its first 48 bytes.
struct mailbox_head {
    std::uint64_t number;  // of the operation it is for, plus 1; written last
    std::uint64_t entry;   // as in control
};

// Of a ring from one rank to another.
struct ring_control {
    alignas(line_pair) std::uint64_t written;  // bytes, by the sender
    std::uint64_t disowned;  // where the content begins of a message that is not to be used, by it
    alignas(line_pair) std::uint64_t read;  // bytes, by the receiver
};
static_assert(sizeof(control) == 2 * line_pair && sizeof(ring_control) == 2 * line_pair);
static_assert(sizeof(mailbox_head) == 16 && sizeof(header) <= page);

[[nodiscard]] constexpr std::size_t round_up(std::size_t value, std::size_t to) noexcept {
    return (value + to - 1) / to * to;
}

// All ranks must agree on it. Plain value; any number of ranks that memory suffices for.
struct geometry {
    std::uint32_t ranks = 1;
    std::uint32_t mailboxes = 4;         // a power of two: nothing is divided on the way to one
    std::uint32_t mailbox_bytes = 4096;  // of content
    std::uint32_t slots = 64;
    std::uint32_t slot_bytes = 32 * 1024;
    std::uint32_t ring_bytes = 32 * 1024;

    static constexpr std::uint32_t max_ranks = 4096;

    // Two mailboxes and two slots at least: who is done with one operation may begin the next while
    // others still read. A segment has a line for each rank, so that every collective makes
    // progress.
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

    // A long segment takes several slots of a rank that lie in a row: a power of two that divides
    // their number, so that the first one is a multiple of it. At least two such rows are there.
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
    // That a segment can have.
    [[nodiscard]] constexpr std::size_t longest_segment() const noexcept {
        return std::size_t{longest_row()} * slot_bytes;
    }

    bool operator==(const geometry&) const = default;
};

}  // namespace ucg::node
