// Memory layout of a ring in the segment that two processes share.
//
//   0     sender's line: closed marker, whether it sleeps until there is room
//   128   receiver's line: slots consumed, bulk bytes consumed (both count up for ever)
//   256   whether the receiver sleeps until there is a message
//   384   slots, 64 bytes each
//   ...   bulk bytes, on a page boundary
//
// A slot: u64 word = { u8 phase, u8 am id, u16 flags, u32 length }, then 56 bytes: the message
// itself (flags 0) or u64 position of the message in the bulk bytes (flags 1; the position counts
// up for ever, its low bits are the offset). The phase is 1 in the first lap, 0 in the second, and
// so on: the sender publishes a slot by storing its word last, the receiver never writes to it.
//
// Waking: a side that goes to sleep sets its mark and then checks once more for work. The other
// side publishes and then checks the mark. All four accesses are sequentially consistent, so one of
// the two sees the other. The side that finds the mark clears it and sends a wake-up call, so each
// sleep costs one call.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "uct/api/types.hpp"

namespace uct::posix {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t inline_message = 56;  // 8-byte header and 48 bytes
inline constexpr std::size_t page_size = 4096;

struct alignas(cache_line) slot {
    std::uint64_t word;
    std::byte body[inline_message];
};

// Two lines apart: the hardware fetches lines in pairs.
struct ring_control {
    alignas(128) std::uint64_t closed;  // set by the sender when it closes
    std::uint64_t sender_sleeps;
    alignas(128) std::uint64_t slots_consumed;
    std::uint64_t bulk_consumed;
    // Senders to workers that may sleep read this with each message, so it has its own line.
    alignas(128) std::uint64_t receiver_sleeps;
};
static_assert(sizeof(slot) == cache_line && sizeof(ring_control) == 384);

// Sets the mark of a side that goes to sleep. Returns true if it was set before.
[[nodiscard]] inline bool set_sleeper(std::uint64_t& mark) noexcept {
    return std::atomic_ref(mark).exchange(1, std::memory_order_seq_cst) != 0;
}
// Clears the mark. Returns true if that side sleeps, so that the caller must wake it.
[[nodiscard]] inline bool take_sleeper(std::uint64_t& mark) noexcept {
    const std::atomic_ref flag(mark);
    if (flag.load(std::memory_order_seq_cst) == 0) [[likely]]
        return false;
    flag.store(0, std::memory_order_relaxed);
    return true;
}

// The 8 bytes that publish a slot.
struct slot_word {
    static constexpr std::uint64_t bulk_flag = 1U << 16;
    static constexpr std::uint64_t flags_mask = 0xffffU << 16;

    static constexpr std::uint64_t make(std::uint64_t phase, am_id id, std::uint64_t flags,
                                        std::size_t length) noexcept {
        return phase | std::uint64_t{id} << 8 | flags | static_cast<std::uint64_t>(length) << 32;
    }
    static constexpr am_id id(std::uint64_t word) noexcept { return static_cast<am_id>(word >> 8); }
    static constexpr std::size_t length(std::uint64_t word) noexcept { return word >> 32; }
};

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) noexcept {
    return (value + to - 1) & ~(to - 1);
}

// Sizes of a ring; both sides must agree on them. Plain value.
struct ring_geometry {
    std::uint32_t slots = 0;        // power of two
    std::uint32_t bulk_size = 0;    // bytes, power of two
    std::uint32_t max_message = 0;  // bytes

    static constexpr std::uint32_t min_slots = 8, max_slots = 1U << 16;
    static constexpr std::uint32_t min_bulk = 1U << 12, max_bulk = 1U << 26;

    // A message and the padding before it take at most half of the bulk bytes, and the receiver
    // keeps at most a quarter to itself, so any message fits in the end.
    [[nodiscard]] constexpr bool valid() const noexcept {
        return std::has_single_bit(slots) && slots >= min_slots && slots <= max_slots &&
               std::has_single_bit(bulk_size) && bulk_size >= min_bulk && bulk_size <= max_bulk &&
               max_message >= inline_message && max_message <= bulk_size / 4;
    }
    [[nodiscard]] constexpr std::size_t bulk_offset() const noexcept {
        return round_up(sizeof(ring_control) + std::size_t{slots} * sizeof(slot), page_size);
    }
    [[nodiscard]] constexpr std::size_t segment_size() const noexcept {
        return bulk_offset() + bulk_size;
    }
    bool operator==(const ring_geometry&) const = default;
};

}  // namespace uct::posix
