// What the kernel knows of the other side of a TCP connection.
#pragma once

#include "ucs/time/clock.hpp"

struct tcp_info;

namespace ucs::net {

struct answer_state {
    bool owed = false;            // by the peer's host
    time::nanoseconds heard = 0;  // when it last said anything
};
[[nodiscard]] answer_state answers_in(const tcp_info& info, bool unsent,
                                      time::nanoseconds now) noexcept;
// Nothing is owed where the socket is none of TCP.
[[nodiscard]] answer_state answers_of(int fd, time::nanoseconds now) noexcept;

}  // namespace ucs::net
