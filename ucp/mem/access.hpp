// Access rights of peers to registered memory.
#pragma once

#include <cstdint>

namespace ucp::mem {

// Operations that peers may do on memory.
enum access : std::uint8_t { may_read = 1U << 0, may_write = 1U << 1 };
inline constexpr std::uint8_t all_access = may_read | may_write;

// Identify memory and prove that the peer was given its key.
struct credentials {
    std::uint64_t id = 0;
    std::uint64_t secret = 0;
    friend bool operator==(const credentials&, const credentials&) = default;
};

// Returns true if [address, address + length) lies within [base, base + size).
[[nodiscard]] constexpr bool within(std::uint64_t base, std::uint64_t size, std::uint64_t address,
                                    std::uint64_t length) noexcept {
    return address - base <= size && length <= size - (address - base);
}

}  // namespace ucp::mem
