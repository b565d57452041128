// Wire format of active messages. Layout first.
//
//   id        header (bytes)                    then
//   am_only   fields 8                          ep 8 (only with am_reply), the program's header,
//                                               padded to a multiple of 8 if data follows, data
//   am_first  eager_first_header                the program's header, padded likewise, first
//                                               data; more comes as eager_data
//   am_rts    rts_header                        the program's header
//
// Data begins at a multiple of 8, so that programs can use it in place. The field `tag_or_id` of
// the two longer headers holds the same fields: id of the handler 2, flags 2, length of the
// program's header 4. See ucp/core/wire.hpp for the version rule and the meaning of `ep`. am_only
// carries `ep` only if the receiver may reply.
#pragma once

#include <bit>
#include <cstddef>

#include "ucp/eager/wire.hpp"
#include "ucp/rndv/exposed_buffer.hpp"
#include "ucp/rndv/wire.hpp"

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

// The most that an active message needs in one piece in addition to its header and data.
inline constexpr std::size_t am_longest_extra = sizeof(rts_header) + 16 + longest_exposed_keys;

// The longest program header that any worker allows; the limit is lower if buffers are shorter. A
// message with a longer header is malformed.
inline constexpr std::size_t am_longest_header = 8 * 1024;

}  // namespace ucp::wire
