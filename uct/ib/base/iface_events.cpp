// What the device says by itself, for interfaces of any transport.
#include <cmath>
#include <utility>

#include "uct/ib/base/iface.hpp"

namespace uct::ib {

void iface::take_device_events() noexcept {
    for (const device_event& each : inbox_->take()) {
        if (concerns(each)) on_device_event(each);
    }
}

// Of queue pairs each transport knows its own.
bool iface::concerns(const device_event& event) noexcept {
    switch (scope_of(event.type)) {
        case event_scope::port:
            return event.port == port_;
        case event_scope::receive_queue:
            return event.queue == &pool().queue();
        case event_scope::completion_queue:
            return event.queue == &sends_.get() || event.queue == &receives_.get();
        case event_scope::pair:
        case event_scope::device:
        case event_scope::other:
            break;
    }
    return true;
}

void iface::on_device_event(const device_event& event) noexcept {
    using deed = event_meaning::deed;
    const char* const text = ibv_event_type_str(event.type);
    const event_meaning meaning = meaning_of(event.type);
    switch (meaning.what) {
        case deed::nothing:
            return ucs::log::debug(ib_log, "{}: {}", where().device, text);
        case deed::port_up:
            ucs::log::warn(ib_log, "{}: {}", where().device, text);
            return events_.remove_timer(std::exchange(port_timer_, 0));
        case deed::port_down:
            ucs::log::warn(ib_log, "{}: {}", where().device, text);
            return watch_port();
        case deed::refill:
            return pool().ran_short();
        case deed::fail_pair:
            return on_broken_pair(event, meaning.status);
        case deed::fail_all:
        case deed::abandon_all:
            break;
    }
    ucs::log::error(ib_log, "{}: {}: all connections over it fail", where().device, text);
    fail_all(meaning.status,
             meaning.what == deed::abandon_all ? completions::end : completions::go_on);
}

// Requests are repeated for a while, so a short interruption hurts nobody.
void iface::watch_port() noexcept {
    if (port_timer_ != 0 || std::isinf(ib_options_.port_down.seconds)) return;
    port_timer_ = events_.add_timer(
        ucs::time::from_seconds(ib_options_.port_down.seconds), [this] { port_stayed_down(); },
        true);
}

void iface::port_stayed_down() noexcept {
    port_timer_ = 0;
    ibv_port_attr now{};
    if (ibv_query_port(&domain_->context(), port_, &now) == 0 && now.state == IBV_PORT_ACTIVE) {
        return;  // its event was lost
    }
    ucs::log::error(ib_log, "{}: the port is down for {} s: all connections over it fail",
                    where().device, ib_options_.port_down.seconds);
    fail_all(UCS_ERR_ENDPOINT_TIMEOUT, completions::go_on);
}

}  // namespace uct::ib
