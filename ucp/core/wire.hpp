// Message ids between workers, and the rules that hold for all message formats.
//
// Version rule: the worker address carries the protocol version, and workers of different versions
// do not connect, so messages carry none. It is raised with every change since the first release.
// All fields are in the byte order of x86-64, the only one that is supported.
//
// The layouts are in the wire.hpp of each subsystem: wireup, eager, rndv, am, stream, rma. In all
// of them `ep` is the receiver's endpoint id, given to the sender by wireup; `message` numbers the
// sender's fragmented messages on that endpoint; `ack`, `request` and `reply` are ids of requests,
// 0 for none. Ids are looked up in tables: a wrong one finds nothing and the message is dropped.
#pragma once

#include <cstdint>

#include "ucs/type/status.h"
#include "uct/api/types.hpp"

namespace ucp::wire {

enum id : uct::am_id {
    wireup = 1,           // ucp/wireup/wire.hpp
    eager_only = 2,       // ucp/eager/wire.hpp
    eager_first = 3,      //
    eager_data = 4,       //
    eager_ack = 5,        //
    rndv_rts = 6,         // ucp/rndv/wire.hpp
    rndv_rtr = 7,         //
    rndv_data = 8,        //
    rndv_ats = 9,         //
    rndv_atp = 10,        //
    am_only = 11,         // ucp/am/wire.hpp
    am_first = 12,        //
    am_rts = 13,          //
    stream_data = 14,     // ucp/stream/wire.hpp
    stream_credit = 15,   //
    rma_put = 16,         // ucp/rma/wire.hpp
    rma_get = 17,         //
    rma_data = 18,        //
    rma_result = 19,      //
    rma_atomic = 20,      //
    rma_confirm = 21,     //
    rma_confirmed = 22,   //
    credit_request = 23,  // ucp/eager/wire.hpp
    credit_grant = 24,    //
    rndv_more = 25,       // ucp/proto/wire.hpp
};
inline constexpr unsigned id_count = 26;

// Converts the status in a peer's message, which may hold any number, into a known status.
[[nodiscard]] inline ucs_status_t known_status(std::int64_t sent) noexcept {
    const bool known = sent <= 0 && sent > UCS_ERR_LAST;
    return known ? static_cast<ucs_status_t>(sent) : UCS_ERR_IO_ERROR;
}

}  // namespace ucp::wire
