// Sleep support of a worker: whether there is work, and waking the threads that sleep.
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

bool worker::has_work() const noexcept {
    if (postponed_.has_any()) return true;
    bool found = false;
    publish(events::work_sought{*this, found});
    return found || interfaces_.has_work();
}

ucs_status_t worker::arm() noexcept {
    // The next progress, not a later one, must find what the descriptors show then.
    schedule_.look_everywhere();
    if (has_work()) return UCS_ERR_BUSY;
    if (schedule_.is_waking()) return UCS_ERR_BUSY;
    if (const ucs_status_t status = interfaces_.arm(); status != UCS_OK) return status;
    return schedule_.arm();
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
