// Sleep support of a worker: whether there is work, and waking the threads that sleep.
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

namespace {
// The longest sleep of a worker that waits for a peer to connect.
constexpr ucs::time::nanoseconds longest_nap = 10 * ucs::time::millisecond;
}  // namespace

bool worker::has_work() const noexcept {
    if (!ended_.empty() || !failing_peers_.empty() || !resuming_peers_.empty() ||
        !trash_eps_.empty() || !trash_peers_.empty()) {
        return true;
    }
    bool found = false;
    publish(events::work_sought{*this, found});
    return found || std::any_of(interfaces_.begin(), interfaces_.end(), [](const auto& each) {
               return each != nullptr && each->has_work();
           });
}

bool worker::has_polled_work() const noexcept {
    return std::any_of(fast_.begin(), fast_.end(),
                       [](const uct::iface* each) { return each->has_work(); });
}

ucs_status_t worker::arm() noexcept {
    // The next progress, not a later one, must find what the descriptors show then.
    look_everywhere();
    if (has_work()) return UCS_ERR_BUSY;
    // The wakeup event is set for threads that have not woken yet, see ucp/wakeup/wait.cpp.
    if (sleepers_ > 0 && events_->is_wake_latched()) return UCS_ERR_BUSY;
    for (const auto& each : interfaces_) {
        if (each == nullptr) continue;
        if (const ucs_status_t status = each->arm(); status != UCS_OK) return status;
    }
    if (connecting_ > 0 && nap_ == 0)
        nap_ = events_->add_timer(
            longest_nap, [this] { nap_ = 0; }, true);
    const ucs_status_t status = events_->arm();
    asleep_ = asleep_ || status == UCS_OK;
    return status;
}

void worker::end_sleep() noexcept {
    if (--sleepers_ > 0) return;
    asleep_ = false;
    clear_wakeup();
}

void worker::wake_up() noexcept {
    asleep_ = false;
    events_->latch_wake();
}

ucs_status_t worker::join_event_set() const {
    epoll_event wanted{};
    wanted.events = EPOLLIN | (params_.edge_triggered ? EPOLLET : 0U);
    wanted.data.ptr = params_.user_data;
    if (::epoll_ctl(params_.event_fd, EPOLL_CTL_ADD, events_->fd(), &wanted) == 0) return UCS_OK;
    ucs::log::error(core_log, "ucp_worker_create: the worker cannot be added to event_fd {}: {}",
                    params_.event_fd, std::strerror(errno));
    return UCS_ERR_INVALID_PARAM;
}

void worker::leave_event_set() const noexcept {
    // Fails if the program has closed its set already.
    static_cast<void>(::epoll_ctl(params_.event_fd, EPOLL_CTL_DEL, events_->fd(), nullptr));
}

}  // namespace ucp
