// Packed key by which a peer accesses memory that is registered with a device.
//
// Layout, little-endian, 24 bytes:
//   0  u64  address of the first byte, as its owner has it
//   8  u64  length in bytes; the end does not wrap around
//   16 u32  the owner's device knows the memory by this number (rkey)
//   20 u8   version, now 1
//   21 u8   what may be done with it: 0 read, 1 read and change
//   22 u16  0
// The owner's device checks the number, the range and the operation itself, against the
// registration or the window of that number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "uct/api/memory.hpp"

namespace uct::ib {

struct memory_key {
    static constexpr std::size_t size = 24;

    std::uint64_t base = 0;
    std::uint64_t length = 0;
    std::uint32_t number = 0;
    memory_access allowed = memory_access::read;

    void pack(std::span<std::byte> into) const noexcept;  // `size` bytes
    [[nodiscard]] static std::optional<memory_key> parse(std::span<const std::byte> from) noexcept;

    friend bool operator==(const memory_key&, const memory_key&) = default;
};

}  // namespace uct::ib
