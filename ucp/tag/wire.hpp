// Messages between workers: layout first.
//
// Version rule: the worker address carries the protocol version, and workers of different versions
// do not connect, so messages carry none. It is raised with every change since the first release.
// All fields are in the byte order of x86-64, the only one that is supported.
//
//   id            header (bytes)                                        then
//   eager_only    tag 8                                                 data
//   eager_first   tag 8, total 8, ep 8, message 8, ack 8                first data
//   eager_data    ep 8, message 8, offset 8                             data
//   eager_ack     request 8, status 8                                   -
//   rndv_rts      tag 8, total 8, ep 8, request 8, address 8, flags 8   -
//   rndv_rtr      request 8, reply 8, address 8, from 8, ep 8           -
//   rndv_data     reply 8, offset 8                                     data
//   rndv_ats      request 8, status 8, reply 8, ep 8                    -
//   rndv_atp      reply 8, status 8                                     -
//   wireup        see ucp/wireup/wire.hpp
//
// `ep` is the receiver's endpoint id, given to the sender by wireup; `message` counts the sender's
// fragmented messages on that endpoint; `ack`, `request` and `reply` are ids of requests, 0 for
// none. Ids are looked up in tables: a wrong one finds nothing and the message is dropped.
#pragma once

#include <cstdint>

#include "ucs/type/status.h"
#include "uct/api/types.hpp"

namespace ucp::wire {

enum id : uct::am_id {
    wireup = 1,
    eager_only = 2,
    eager_first = 3,
    eager_data = 4,
    eager_ack = 5,
    rndv_rts = 6,
    rndv_rtr = 7,
    rndv_data = 8,
    rndv_ats = 9,
    rndv_atp = 10,
};

struct eager_only_header {
    std::uint64_t tag;
};

struct eager_first_header {
    std::uint64_t tag;
    std::uint64_t total;
    std::uint64_t ep;
    std::uint64_t message;
    std::uint64_t ack;  // not 0: tell this request when matched
};

struct eager_data_header {
    std::uint64_t ep;
    std::uint64_t message;
    std::uint64_t offset;
};

struct ack_header {
    std::uint64_t request;
    std::int64_t status;  // of the match: an error when the message was given up before
};

struct rts_header {
    std::uint64_t tag;
    std::uint64_t total;
    std::uint64_t ep;
    std::uint64_t request;
    std::uint64_t address;  // 0: memory cannot be read directly
    std::uint64_t flags;    // rts_…
};

// The sender may break the send off and have its memory back at once: who has read it asks by
// rndv_ats whether it still was the message.
inline constexpr std::uint64_t rts_confirm = 1;

struct rtr_header {
    std::uint64_t request;
    std::uint64_t reply;
    std::uint64_t address;  // 0: stream everything; else write what is behind `from` there
    std::uint64_t from;     // offset in the message
    std::uint64_t ep;       // the sender's endpoint, so that it can answer when the send is gone
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

static_assert(sizeof(eager_first_header) == 40 && sizeof(eager_data_header) == 24 &&
              sizeof(rts_header) == 48 && sizeof(data_header) == 16);

// The status in a message of a peer, which may send any number.
[[nodiscard]] inline ucs_status_t known_status(std::int64_t sent) noexcept {
    const bool known = sent <= 0 && sent > UCS_ERR_LAST;
    return known ? static_cast<ucs_status_t>(sent) : UCS_ERR_IO_ERROR;
}

}  // namespace ucp::wire
