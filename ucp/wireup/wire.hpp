// Wire format of connection messages: layout first.
//
//   request  type 1, order 7, uid 8 (of the sender), peer_uid 8, ep 8 (the sender's endpoint id),
//            number 8, then the sender's packed worker address. The order is higher in every
//            request that the sender makes (ucp/wireup/request_order.hpp)
//   reply    type 1, unused 7, uid 8, peer_uid 8, ep 8, peer_ep 8 (the receiver's endpoint id),
//            then the sender's packed worker address
//   close    like reply, no address: the sender's endpoint `ep` will send nothing more
//   failed   like close, with the reason (end_reason) in the first of the unused bytes: the
//            sender's endpoint `ep` failed on its side, and replies to nothing more
//   refuse   like failed, with ep 0, the receipt of the refused message and its peer_uid as uid:
//            refuses a request for a worker that is not here, or a reply or bind for an endpoint
//            that is gone
//   bind     like reply, with token 7 in the unused bytes: the server's endpoint belongs to the
//            client's endpoint that asked with this token (ucp/cm/wire.hpp). A reply answers it
//
// Paired lanes (ucp/wireup/pairing.hpp) need these messages first, over another transport:
//   pair     uid 8, peer_uid 8, attempt 8, 0, then lanes and the sender's packed worker address
//            (ucp/wireup/pair_wire.hpp). Without lanes: the sender declines paired lanes, and the
//            attempt is the last one that it has requested or replied to before. A receiver
//            without lanes of that attempt repeats its pending request; so it does after unpaired
//   paired   the same with the attempt that it replies to, then the connection data of its lanes
//   unpaired the same, with the reason (unpaired_reason) in the last field: the lanes cannot be
//            connected. Also sent by a requester that has given up, and by a side that has lost its
//            lanes
//   joined   like paired without data, the first message on the lane itself: the responder may send
//            over the lane
//
// The bit `over_pair` of the type of request, reply and bind tells that the message went over a
// paired lane. The receiver drops a message that came over other lanes than it has, see
// messages.cpp.
//
// The highest bit of the type (`no_credits`) tells that the sender gives no credits: it stores as
// many messages as it may. The receiver begins its messages with an RTS until it has requested
// credits and got them, see ucp/eager/wire.hpp.
//
// Request, reply and bind hide the sender's endpoint id behind a mask that only the two workers can
// compute, and refuse holds the id as it came (make_ep_mask in ucp/wireup/proof.hpp).
//
// All of them end their header with two fields of 16 bytes, see ucp/wireup/proof.hpp:
//   receipt  of request, reply, bind and pair: the receiver returns it if it refuses them
//            (`refuse`, and `unpaired` because the worker is not here). Otherwise 0
//   proof    that the worker `uid` has made this message for the worker `peer_uid`: a tag over the
//            header, with 0 in this place, and over the data behind it. 0 if the receipt is the
//            proof
// A message without its proof is dropped.
//
// `number` counts the endpoints that the sender made to this peer. The endpoints of both sides with
// the same number belong together, so simultaneous connects result in one connection. From 1 << 62
// on the numbers, all even, count endpoints whose other end no program at the receiver adopts.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ucs/security/key.hpp"

namespace ucp::wire {

enum class wireup_type : std::uint8_t {
    request = 1,
    reply = 2,
    close = 3,
    refuse = 4,
    bind = 5,
    failed = 6,
    pair = 7,
    paired = 8,
    unpaired = 9,
    joined = 10,
};

enum class unpaired_reason : std::uint64_t {
    not_here = 0,  // the requested worker is not at this address
    cannot = 1,    // the lanes could not be made, or others are in use
};

// Reason in failed and refuse.
enum class end_reason : std::uint8_t {
    unspecified = 0,
    too_many = 1,  // peers have made as many endpoints as the limit allows
};

inline constexpr std::uint8_t no_credits = 0x80;
inline constexpr std::uint8_t over_pair = 0x40;

struct wireup_header {
    wireup_type type;
    std::uint8_t detail[7];  // order, token or reason, see below; otherwise 0
    std::uint64_t uid;
    std::uint64_t peer_uid;
    std::uint64_t ep;                 // in messages of paired lanes: the attempt
    std::uint64_t peer_ep_or_number;  // in unpaired: the reason
    ucs::security::tag receipt{};
    ucs::security::tag proof{};

    // The order of a request, 56 bits.
    [[nodiscard]] std::uint64_t order() const noexcept { return number_in_detail(); }
    void set_order(std::uint64_t order) noexcept { set_number_in_detail(order); }
    // The token of a bind, 56 bits.
    [[nodiscard]] std::uint64_t token() const noexcept { return number_in_detail(); }
    void set_token(std::uint64_t token) noexcept { set_number_in_detail(token); }
    // The reason that failed and refuse give.
    [[nodiscard]] end_reason reason() const noexcept { return static_cast<end_reason>(detail[0]); }
    void set_reason(end_reason reason) noexcept { detail[0] = static_cast<std::uint8_t>(reason); }

private:
    // Lowest byte first.
    [[nodiscard]] std::uint64_t number_in_detail() const noexcept {
        std::uint64_t number = 0;
        std::memcpy(&number, detail, sizeof detail);
        return number;
    }
    void set_number_in_detail(std::uint64_t number) noexcept {
        std::memcpy(detail, &number, sizeof detail);
    }
};
static_assert(sizeof(wireup_header) == 72);
static_assert(std::is_trivially_copyable_v<wireup_header>);

}  // namespace ucp::wire
