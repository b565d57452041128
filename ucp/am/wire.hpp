// Wire format of active messages. Layout first.
//
//   id        header (bytes)                    then
//   am_only   word 8                            ep 8 (only with am_reply), the program's header,
//                                               padded to a multiple of 8 if data follows, data
//   am_first  eager_first_header                the program's header, padded likewise, first
//                                               data; more comes as eager_data
//   am_rts    rts_header                        the program's header
//
// Data begins at a multiple of 8, so that programs can use it in place. The field `what` of the two
// longer headers is the word: id of the handler 2, flags 2, length of the program's header 4. See
// ucp/core/wire.hpp for the version rule and the meaning of `ep`. am_only carries `ep` only if the
// receiver may reply.
#pragma once

#include <bit>
#include <cstddef>

#include "ucp/eager/wire.hpp"
#include "ucp/rndv/lent.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp::wire {

// Flag: the message carries the endpoint by which the receiver can reply.
inline constexpr std::uint16_t am_reply = 1;

struct am_word {
    std::uint16_t id;
    std::uint16_t flags;
    std::uint32_t header_length;
};
static_assert(sizeof(am_word) == 8);

[[nodiscard]] constexpr am_word to_am_word(std::uint64_t bits) noexcept {
    return std::bit_cast<am_word>(bits);
}
[[nodiscard]] constexpr std::uint64_t to_what(am_word word) noexcept {
    return std::bit_cast<std::uint64_t>(word);
}

// Returns the bytes that a header of this length occupies in front of data.
[[nodiscard]] constexpr std::size_t filled_up(std::size_t header_length) noexcept {
    return (header_length + 7) & ~std::size_t{7};
}

// The most that an active message needs in one piece in addition to its header and data.
inline constexpr std::size_t am_longest_extra = sizeof(rts_header) + 16 + longest_lent_key;

// The longest program header that any worker allows; the limit is lower if buffers are shorter. A
// message with a longer header is malformed.
inline constexpr std::size_t am_longest_header = 8 * 1024;

}  // namespace ucp::wire
