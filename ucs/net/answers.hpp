// The liveness of a TCP peer as the kernel sees it: whether replies are outstanding, and when the
// peer was last heard.
#pragma once

#include "ucs/time/clock.hpp"

struct tcp_info;

namespace ucs::net {

struct answer_state {
    bool owed = false;            // the peer's host owes an acknowledgement
    time::nanoseconds heard = 0;  // time of the last packet from the peer
};
[[nodiscard]] answer_state answers_in(const tcp_info& info, bool unsent,
                                      time::nanoseconds now) noexcept;
// If the socket is not a TCP socket, no reply is outstanding.
[[nodiscard]] answer_state answers_of(int fd, time::nanoseconds now) noexcept;

}  // namespace ucs::net
