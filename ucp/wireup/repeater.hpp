// Asking again for connections that nobody answered.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucs/async/event_loop.hpp"

namespace ucp::wireup {

// Lanes lose nothing, but who gets a connection request may lack memory or a descriptor to accept
// it, or to say that it does not. It is then repeated, once per interval, until it is answered;
// who accepted it meanwhile answers twice, and the second answer changes nothing. Part of the
// worker; owner context. Has a timer while an answer is missing, and for one interval more.
class request_repeater {
public:
    // interval: 0 for never.
    request_repeater(ucs::async::event_loop& events, ucs::time::nanoseconds interval) noexcept;
    ~request_repeater();
    request_repeater(const request_repeater&) = delete;
    request_repeater& operator=(const request_repeater&) = delete;

    // Its request is on its way.
    void add(ep& asking) noexcept;

private:
    using list = ucs::datastruct::auto_list<ep, &ep::unanswered_hook>;

    void look() noexcept;

    ucs::async::event_loop& events_;
    const ucs::time::nanoseconds interval_;
    ucs::async::event_loop::timer_id timer_ = 0;
    list waiting_;
};

}  // namespace ucp::wireup
