// Wire format of the rendezvous protocols: layout first.
//
//   id            header (bytes)                                        then
//   rndv_rts      tag_or_id 8, total 8, ep 8, request 8, address 8,     key
//                 flags 4, stopped 4
//   rndv_rtr      request 8, reply 8, address 8, from 8, ep 8, uid 8    key
//   rndv_data     reply 8, offset 8                                     data
//   rndv_ats      request 8, status 8, reply 8, ep 8                    -
//   rndv_atp      reply 8, status 8                                     -
//   rndv_more     ep 8, stopped 8                                       -
//
// A sender whose RTS messages are not matched by receives stops at a limit, and says so by
// `stopped` in the RTS that reaches it. A receiver that waits for another message requests more RTS
// messages by the latest such number.
//
// A receiver that has read the data, or a part of it, confirms that by rndv_ats, and the send ends.
// If the sender was requested to write all data, it knows the end itself: the last message is
// rndv_atp with UCS_OK.
//
// If memory is accessed by keys (ucp/rndv/exposed_buffer.hpp), a key follows that goes with the
// address; in the RTS of an active message it follows the program's header, at a multiple of 8
// bytes.
//
// See ucp/core/wire.hpp for the version rule and the meaning of ids. `tag_or_id` is the tag or
// active message id, see ucp/core/kind.hpp.
#pragma once

#include "ucp/core/wire.hpp"

namespace ucp::wire {

struct rts_header {
    std::uint64_t tag_or_id;
    std::uint64_t total;
    std::uint64_t ep;
    std::uint64_t request;
    std::uint64_t address;  // 0: the memory cannot be read directly
    std::uint32_t flags;    // rts_…
    // Only for tagged messages. If it is not 0, the sender defers the tagged messages that follow,
    // on all its endpoints, until it gets a reply, or a request for more by this number.
    std::uint32_t stopped = 0;
};

// Flag of an RTS: the sender may abort the send and reuse its memory at once. A receiver that has
// read the data asks by rndv_ats whether the memory still held the message.
inline constexpr std::uint32_t rts_confirm = 1;
// Flag of an RTS: the address is memory of a device, which only the keys give access to.
inline constexpr std::uint32_t rts_on_device = 2;

struct rtr_header {
    std::uint64_t request;
    std::uint64_t reply;
    std::uint64_t address;  // 0: stream everything; otherwise write the data from offset `from` on
                            // to this address
    std::uint64_t
        from;  // offset in the message; 0: the receiver reads nothing, and rndv_atp is the end
    std::uint64_t ep;   // the sender's endpoint, so that it can answer when the send is gone
    std::uint64_t uid;  // of the requesting worker, to reply when the endpoint is gone as well
};

struct data_header {
    std::uint64_t reply;
    std::uint64_t offset;
};

struct ats_header {
    std::uint64_t request;
    std::int64_t status;  // status of the transfer, for the sender's completion
    std::uint64_t reply;  // not 0: the receive that asks whether the send still ran
    std::uint64_t ep;     // the sender's endpoint, for the reply to that
};

struct atp_header {
    std::uint64_t reply;
    // Status of the sender's write, or UCS_OK if the data was read in time. UCS_ERR_CANCELED: the
    // send is gone, and so is the message. Another error: nothing was written, and the receiver
    // reads that part.
    std::int64_t status;
};

static_assert(sizeof(rts_header) == 48 && sizeof(data_header) == 16);

}  // namespace ucp::wire
