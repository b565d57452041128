// Active messages: layout first.
//
//   id        header (bytes)                    then
//   am_only   word 8                            ep 8 (only with am_reply), the program's header,
//                                               filled up to a multiple of 8 if data follows, data
//   am_first  eager_first_header                the program's header, filled up likewise, first
//                                               data; more comes as eager_data
//   am_rts    rts_header                        the program's header
//
// Data begins at a multiple of 8, so that programs can use it where it arrived. `what` of the two
// longer headers is the word: id of the handler 2, flags 2, length of the program's header 4. See
// ucp/core/wire.hpp for the version rule and the meaning of `ep`; in am_only it is there for
// messages that are to be answered.
#pragma once

#include <bit>
#include <cstddef>

#include "ucp/eager/wire.hpp"
#include "ucp/rndv/lent.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp::wire {

// The receiver is told by which endpoint it can answer.
inline constexpr std::uint16_t am_reply = 1;

struct am_word {
    std::uint16_t id;
    std::uint16_t flags;
    std::uint32_t header_length;
};
static_assert(sizeof(am_word) == 8);

[[nodiscard]] constexpr am_word to_am_word(std::uint64_t what) noexcept {
    return std::bit_cast<am_word>(what);
}
[[nodiscard]] constexpr std::uint64_t to_what(am_word word) noexcept {
    return std::bit_cast<std::uint64_t>(word);
}

// Bytes that a header of this length takes before data.
[[nodiscard]] constexpr std::size_t filled_up(std::size_t header_length) noexcept {
    return (header_length + 7) & ~std::size_t{7};
}

// What an active message may have at most beside its header and data, in one piece.
inline constexpr std::size_t am_longest_extra = sizeof(rts_header) + 16 + longest_lent_key;

// The longest header of a program that any worker allows; less where buffers are shorter. What is
// longer is no message of a worker.
inline constexpr std::size_t am_longest_header = 8 * 1024;

}  // namespace ucp::wire
