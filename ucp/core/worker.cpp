#include "ucp/core/worker.hpp"

#include "ucp/core/events.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

ucs::result<std::unique_ptr<worker>> worker::create(const context& parent,
                                                    const worker_params& params) {
    auto events = ucs::async::event_loop::create();
    if (!events) return events.status();
    std::unique_ptr<worker> made = make(parent, params, std::move(*events));
    if (const ucs_status_t status = made->interfaces_.open(); status != UCS_OK) return status;
    if (params.event_fd >= 0) {
        if (const ucs_status_t status = made->join_event_set(); status != UCS_OK) return status;
    }
    made->identity_.pack_addresses(*made);
    ucs_status_t usable = UCS_OK;
    publish(events::worker_opened{*made, usable});
    if (usable != UCS_OK) return usable;
    made->show();
    return made;
}

worker::worker(const context& parent, const worker_params& params,
               std::unique_ptr<ucs::async::event_loop> events)
    : context_(parent),
      lock_(params.thread_mode == UCS_THREAD_MODE_MULTI),
      requests_(parent.params().request_area),
      schedule_(*events),
      accessor_(parent.memories()),
      log_(std::make_shared<worker_view>(params.name, params.thread_mode,
                                         [loop = events.get()] { loop->wake(); })),
      params_(params),
      events_(std::move(events)),
      keepalive_(*events_, parent.options()) {}

void worker::show() {
    events_->set_wake_handler([this] { log_.view()->queries.serve_query(*this); });
    context_.attach(log_.view());
    daemon_listener_ = ucs::vfs::daemon_listener::open(*events_, context_.source());
}

void worker::end() noexcept {
    postponed_.note_end();
    context_.detach(log_.view());
    log_.view()->queries.close();
    daemon_listener_.reset();
    if (params_.event_fd >= 0) leave_event_set();
    endpoints_.for_each([](ep& each) { publish(events::endpoint_abandoned{each}); });
    endpoints_.for_each([this](ep& each) { postponed_.destroy_later(each); });
    postponed_.run_ended();
    postponed_.empty_trash();
    publish(events::endpoints_ended{*this});
    peers_.clear();
}

worker::~worker() {
    interfaces_.close();
    if (requests_.in_use() > 0 && !params_.ignore_request_leak) {
        ucs::log::warn(core_log,
                       "worker {} is destroyed while {} requests were not freed; free every "
                       "request that an operation returned",
                       params_.name, requests_.in_use());
    }
}

unsigned worker::progress_slow(unsigned found) {
    publish(events::slow_progress_began{*this});
    const unsigned failed = postponed_.fail_noted() + limits_.fail_for_limits();
    unsigned events = failed + postponed_.empty_trash() + postponed_.resume_peers();
    events += interfaces_.poll_slow();
    accessor_.leave();  // ends the access of puts that are received in place, in pieces
    if (schedule_.is_event_turn(!interfaces_.is_any_polled())) {
        events += progress_events();
        if (found + events == 0) publish(events::worker_idle{*this});
    }
    // If one peer has failed for a limit, the next one may have to.
    bool again = failed > 0 || postponed_.has_peers();
    publish(events::slow_progress_ended{*this, again});
    if (again) schedule_.repeat_slow_part();
    return events;
}

unsigned worker::progress_events() {
    if (!interfaces_.fast().empty() && !schedule_.may_poll_events()) return 0;
    unsigned events = events_->poll(0);
    publish(events::descriptors_polled{*this, events});
    events += interfaces_.poll_unused();
    publish(events::everything_polled{*this});
    return events;
}

}  // namespace ucp
