// Who may do what with registered memory.
#pragma once

#include <cstdint>

namespace ucp::mem {

// What peers may do with memory.
enum access : std::uint8_t { may_read = 1U << 0, may_write = 1U << 1 };
inline constexpr std::uint8_t all_access = may_read | may_write;

// By what the owner of memory recognises who was given its key.
struct credentials {
    std::uint64_t id = 0;
    std::uint64_t secret = 0;
    friend bool operator==(const credentials&, const credentials&) = default;
};

// Whether [at, at + length) lies within [base, base + room).
[[nodiscard]] constexpr bool within(std::uint64_t base, std::uint64_t room, std::uint64_t at,
                                    std::uint64_t length) noexcept {
    return at - base <= room && length <= room - (at - base);
}

}  // namespace ucp::mem
