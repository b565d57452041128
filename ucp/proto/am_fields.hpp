// The field `tag_or_id` of an active message, and the padding of its header, see ucp/am/wire.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace ucp::wire {

// Flag: the message carries the endpoint by which the receiver can reply.
inline constexpr std::uint16_t am_reply = 1;

struct am_fields {
    std::uint16_t id;
    std::uint16_t flags;
    std::uint32_t header_length;
};
static_assert(sizeof(am_fields) == 8);

[[nodiscard]] constexpr am_fields to_am_fields(std::uint64_t bits) noexcept {
    return std::bit_cast<am_fields>(bits);
}
[[nodiscard]] constexpr std::uint64_t to_bits(am_fields fields) noexcept {
    return std::bit_cast<std::uint64_t>(fields);
}

// Returns the bytes that a header of this length occupies in front of data.
[[nodiscard]] constexpr std::size_t padded_length(std::size_t header_length) noexcept {
    return (header_length + 7) & ~std::size_t{7};
}

}  // namespace ucp::wire
