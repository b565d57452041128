// The liveness of a TCP peer as the kernel sees it: whether replies are outstanding, and when the
// peer was last heard.
#pragma once

#include "ucs/time/clock.hpp"

struct tcp_info;

namespace ucs::net {

struct reply_state {
    bool is_reply_due = false;         // the peer's host owes an acknowledgement
    time::nanoseconds last_heard = 0;  // time of the last packet from the peer
};
[[nodiscard]] reply_state reply_state_in(const tcp_info& info, bool unsent,
                                         time::nanoseconds now) noexcept;
// If the socket is not a TCP socket, no reply is outstanding.
[[nodiscard]] reply_state reply_state_of(int fd, time::nanoseconds now) noexcept;

}  // namespace ucs::net
