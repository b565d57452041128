// Handling of asynchronous device events for interfaces of all transports.
#include <cmath>
#include <utility>

#include "uct/ib/base/iface.hpp"

namespace uct::ib {

void iface::take_device_events() noexcept {
    for (const device_event& each : inbox_->take()) {
        if (concerns(each)) on_device_event(each);
    }
}

// Each transport knows its own queue pairs.
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
    using action = event_meaning::action;
    const char* const text = ibv_event_type_str(event.type);
    const event_meaning meaning = meaning_of(event.type);
    switch (meaning.wanted) {
        case action::nothing:
            return ucs::log::debug(ib_log, "{}: {}", where().device, text);
        case action::port_up:
            ucs::log::warn(ib_log, "{}: {}", where().device, text);
            return events_.remove_timer(std::exchange(port_timer_, 0));
        case action::port_down:
            ucs::log::warn(ib_log, "{}: {}", where().device, text);
            return watch_port();
        case action::refill:
            return pool().ran_short();
        case action::fail_pair:
            return on_broken_pair(event, meaning.status);
        case action::fail_all:
        case action::abandon_all:
            break;
    }
    ucs::log::error(ib_log, "{}: {}: all connections over it fail", where().device, text);
    fail_all(meaning.status,
             meaning.wanted == action::abandon_all ? completions::end : completions::go_on);
}

// The device retries requests for a while, so a short interruption does no harm.
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
        return;  // the event that the port is up was lost
    }
    ucs::log::error(ib_log, "{}: the port is down for {} s: all connections over it fail",
                    where().device, ib_options_.port_down.seconds);
    fail_all(UCS_ERR_ENDPOINT_TIMEOUT, completions::go_on);
}

}  // namespace uct::ib
