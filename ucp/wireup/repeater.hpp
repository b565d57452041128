// Repeats connection requests that had no reply.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucs/async/event_loop.hpp"

namespace ucp::wireup {

// Lanes lose no messages, but the receiver of a connection request may lack memory or a descriptor
// to accept or refuse it. Such a request is repeated, once per interval, until it is answered. A
// receiver that has accepted it meanwhile replies twice, and the second reply changes nothing. Part
// of the worker; owner context. The timer runs while a reply is missing, and for one interval more.
class request_repeater {
public:
    explicit request_repeater(worker& owner) noexcept;
    ~request_repeater();
    request_repeater(const request_repeater&) = delete;
    request_repeater& operator=(const request_repeater&) = delete;

    // Watches an endpoint whose request was sent.
    void add(ep& asking) noexcept;

private:
    using list = ucs::datastruct::auto_list<ep, &ep::unanswered_hook>;

    void repeat_requests() noexcept;

    ucs::async::event_loop& events_;
    const ucs::time::nanoseconds interval_;  // 0: never
    ucs::async::event_loop::timer_id timer_ = 0;
    list waiting_;
};

}  // namespace ucp::wireup
