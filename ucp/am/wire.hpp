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

#include <cstddef>

#include "ucp/eager/wire.hpp"
#include "ucp/proto/am_fields.hpp"
#include "ucp/rndv/exposed_buffer.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp::wire {

// The most that an active message needs in one piece in addition to its header and data.
inline constexpr std::size_t am_longest_extra = sizeof(rts_header) + 16 + longest_exposed_keys;

// The longest program header that any worker allows; the limit is lower if buffers are shorter. A
// message with a longer header is malformed.
inline constexpr std::size_t am_longest_header = 8 * 1024;

}  // namespace ucp::wire
