// Messages of the rendezvous protocols: layout first.
//
//   id            header (bytes)                                        then
//   rndv_rts      what 8, total 8, ep 8, request 8, address 8,          key
//                 flags 4, stopped 4
//   rndv_rtr      request 8, reply 8, address 8, from 8, ep 8, uid 8    key
//   rndv_data     reply 8, offset 8                                     data
//   rndv_ats      request 8, status 8, reply 8, ep 8                    -
//   rndv_atp      reply 8, status 8                                     -
//   rndv_more     ep 8, stopped 8                                       -
//
// Who announces what the receiver does not receive stops at a limit, and says so by `stopped` in
// the announcement that reaches it. A receiver that waits for another message asks for more by the
// number that it was told last.
//
// Who has read the data, or a part of it, says so by rndv_ats, and the send ends. Where the sender
// was asked to write all of it, it knows itself: the last message is rndv_atp, if that is UCS_OK.
//
// Where memory is reached by keys (ucp/rndv/lent.hpp), one follows that goes with the address; in
// the announcement of an active message behind its header, at a multiple of 8 bytes.
//
// See ucp/core/wire.hpp for the version rule and the meaning of ids. `what` is what the message
// is, see ucp/proto/kind.hpp.
#pragma once

#include "ucp/core/wire.hpp"

namespace ucp::wire {

struct rts_header {
    std::uint64_t what;
    std::uint64_t total;
    std::uint64_t ep;
    std::uint64_t request;
    std::uint64_t address;  // 0: memory cannot be read directly
    std::uint32_t flags;    // rts_…
    // Of a tagged message, not 0: the sender defers the tagged messages that follow, on all its
    // endpoints, until it is answered, or asked for more by this number.
    std::uint32_t stopped = 0;
};

// The sender may break the send off and have its memory back at once: who has read it asks by
// rndv_ats whether it still was the message.
inline constexpr std::uint32_t rts_confirm = 1;

struct rtr_header {
    std::uint64_t request;
    std::uint64_t reply;
    std::uint64_t address;  // 0: stream everything; else write what is behind `from` there
    std::uint64_t from;     // offset in the message; 0: nothing is read, and rndv_atp is the end
    std::uint64_t ep;       // the sender's endpoint, so that it can answer when the send is gone
    std::uint64_t uid;  // of the worker that asks, for that answer when the endpoint is gone, too
};

struct data_header {
    std::uint64_t reply;
    std::uint64_t offset;
};

struct ats_header {
    std::uint64_t request;
    std::int64_t status;  // of the transfer, for the sender's completion
    std::uint64_t reply;  // not 0: the receive that waits to hear whether the send still ran
    std::uint64_t ep;     // the sender's endpoint, for that answer
};

struct atp_header {
    std::uint64_t reply;
    // Of the sender's write, or UCS_OK when the data was read in time. UCS_ERR_CANCELED: the send
    // is gone, so is the message. Another error: nothing was written, the receiver reads that part.
    std::int64_t status;
};

struct more_header {
    std::uint64_t ep;  // over which it said that it stopped
    std::uint64_t stopped;
};

static_assert(sizeof(rts_header) == 48 && sizeof(data_header) == 16);

}  // namespace ucp::wire
