#include "uct/ib/base/device/device_events.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/base/log.hpp"

namespace uct::ib {
namespace {

device_event plain(const ibv_async_event& from) noexcept {
    device_event made{.type = from.event_type};
    switch (scope_of(from.event_type)) {
        case event_scope::pair:
            made.qp_number = from.element.qp->qp_num;
            break;
        case event_scope::receive_queue:
            made.queue = from.element.srq;
            break;
        case event_scope::completion_queue:
            made.queue = from.element.cq;
            break;
        case event_scope::port:
            made.port = static_cast<std::uint8_t>(from.element.port_num);
            break;
        case event_scope::device:
        case event_scope::other:
            break;
    }
    return made;
}

}  // namespace

event_scope scope_of(ibv_event_type type) noexcept {
    switch (type) {
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            return event_scope::pair;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            return event_scope::receive_queue;
        case IBV_EVENT_CQ_ERR:
            return event_scope::completion_queue;
        case IBV_EVENT_PORT_ACTIVE:
        case IBV_EVENT_PORT_ERR:
        case IBV_EVENT_LID_CHANGE:
        case IBV_EVENT_PKEY_CHANGE:
        case IBV_EVENT_SM_CHANGE:
        case IBV_EVENT_CLIENT_REREGISTER:
        case IBV_EVENT_GID_CHANGE:
            return event_scope::port;
        case IBV_EVENT_DEVICE_FATAL:
            return event_scope::device;
        default:
            return event_scope::other;
    }
}

event_meaning meaning_of(ibv_event_type type) noexcept {
    using action = event_meaning::action;
    switch (type) {
        case IBV_EVENT_PORT_ACTIVE:
            return {action::port_up};
        case IBV_EVENT_PORT_ERR:
            return {action::port_down};
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            return {action::refill};
        case IBV_EVENT_QP_FATAL:
            return {action::fail_pair, UCS_ERR_IO_ERROR};
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
            return {action::fail_pair, UCS_ERR_REJECTED};
        case IBV_EVENT_SRQ_ERR:
            return {action::fail_all, UCS_ERR_IO_ERROR};
        case IBV_EVENT_CQ_ERR:
        case IBV_EVENT_DEVICE_FATAL:
            return {action::abandon_all, UCS_ERR_IO_ERROR};
        default:
            return {};
    }
}

ucs::result<std::unique_ptr<event_inbox>> event_inbox::create() {
    ucs::unique_fd wakes =
        ucs::sys::within_budget(ucs::unique_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
    if (!wakes) {
        ucs::log::error(ib_log, "eventfd() for the events of a device failed: {}",
                        std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    return std::unique_ptr<event_inbox>(new event_inbox(std::move(wakes)));
}

std::vector<device_event> event_inbox::take() {
    const std::scoped_lock guard(lock_);
    eventfd_t ignored = 0;
    static_cast<void>(::eventfd_read(wakes_.get(), &ignored));
    return std::exchange(events_, {});
}

void event_inbox::put(const device_event& event) noexcept {
    const std::scoped_lock guard(lock_);
    if (!ucs::allocated([&] { events_.push_back(event); })) {
        // The failure also shows in completions, only later.
        ucs::log::error(ib_log, "out of memory: an event of a device ({}) is lost",
                        ibv_event_type_str(event.type));
        return;
    }
    static_cast<void>(::eventfd_write(wakes_.get(), 1));
}

void device_events::add(event_inbox& reader) {
    const std::scoped_lock guard(lock_);
    readers_.push_back(&reader);
}

void device_events::remove(event_inbox& reader) noexcept {
    const std::scoped_lock guard(lock_);
    std::erase(readers_, &reader);
}

void device_events::distribute() noexcept {
    const std::scoped_lock guard(lock_);
    ibv_async_event event{};
    while (ibv_get_async_event(&device_, &event) == 0) {
        const device_event made = plain(event);
        // Acknowledged at once, because the destruction of the event's object waits for that.
        ibv_ack_async_event(&event);
        for (event_inbox* each : readers_)
            each->put(made);
    }
}

}  // namespace uct::ib
