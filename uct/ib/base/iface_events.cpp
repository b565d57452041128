// What the device says by itself, for interfaces of any transport.
#include <cmath>
#include <utility>

#include "uct/ib/base/iface.hpp"

namespace uct::ib {

void iface::take_device_events() noexcept {
    try {
        for (const device_event& each : inbox_->take()) {
            if (each.port == port_) watch_port(each);
            on_device_event(each);
        }
    } catch (const std::bad_alloc&) {
        ucs::log::error(ib_log, "{}: out of memory: events of the device are lost", where().device);
    }
}

// Requests are repeated for a while, so a short interruption hurts nobody.
void iface::watch_port(const device_event& event) noexcept {
    if (event.type != IBV_EVENT_PORT_ERR && event.type != IBV_EVENT_PORT_ACTIVE) return;
    ucs::log::warn(ib_log, "{}: {}", where().device, ibv_event_type_str(event.type));
    if (event.type == IBV_EVENT_PORT_ACTIVE) {
        events_.remove_timer(std::exchange(port_timer_, 0));
    } else if (port_timer_ == 0 && !std::isinf(ib_options_.port_down.seconds)) {
        port_timer_ = events_.add_timer(
            ucs::time::from_seconds(ib_options_.port_down.seconds), [this] { port_stayed_down(); },
            true);
    }
}

void iface::port_stayed_down() noexcept {
    port_timer_ = 0;
    ibv_port_attr now{};
    if (ibv_query_port(&domain_->context(), port_, &now) == 0 && now.state == IBV_PORT_ACTIVE) {
        return;  // its event was lost
    }
    ucs::log::error(ib_log, "{}: the port is down for {} s: all connections over it fail",
                    where().device, ib_options_.port_down.seconds);
    fail_all(UCS_ERR_ENDPOINT_TIMEOUT);
}

void iface::on_device_event(const device_event& event) noexcept {
    const char* const text = ibv_event_type_str(event.type);
    switch (event.type) {
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            if (event.queue == &pool().queue()) pool().ran_short();
            return;
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
            return on_broken_pair(event);
        case IBV_EVENT_SRQ_ERR:
            if (event.queue != &pool().queue()) return;
            break;
        case IBV_EVENT_CQ_ERR:
            if (event.queue != &sends_.get() && event.queue != &receives_.get()) return;
            break;
        case IBV_EVENT_DEVICE_FATAL:
            break;
        default:
            ucs::log::debug(ib_log, "{}: {}", where().device, text);
            return;
    }
    ucs::log::error(ib_log, "{}: {}: all connections over it fail", where().device, text);
    fail_all(UCS_ERR_IO_ERROR);
}

}  // namespace uct::ib
