#include "uct/base/base_iface.hpp"

namespace uct {

constinit const ucs::log::component uct_log{"uct"};

void base_iface::drop_unknown(void* arg, void*, std::size_t length) {
    auto& self = *static_cast<base_iface*>(arg);
    ++self.dropped_;
    self.rejected_.warn(
        uct_log,
        "{}/{}: a message of {} bytes for an active message id without handler was dropped; the "
        "peer runs another version or sends garbage",
        self.where_.transport, self.where_.device, length);
}

base_iface::base_iface(const resource& where, const iface_params& params)
    : where_(where),
      events_(params.events),
      worker_uid_(params.worker_uid),
      rejected_(params.rejected != nullptr ? *params.rejected : own_rejected_) {
    for (am_handler& handler : handlers_) {
        handler.deliver = drop_unknown;
        handler.arg = this;
    }
}

base_iface::~base_iface() = default;

void base_iface::set_am_handler(am_id id, const am_handler& handler) {
    am_handler& slot = handlers_[id % am_id_count];
    slot = handler;
    if (slot.deliver == nullptr) {
        slot = am_handler{.deliver = drop_unknown, .arg = this};
    }
}

void base_iface::note_failure(base_ep& which, ucs_status_t status) noexcept {
    if (which.failure_noted_ != UCS_OK) return;
    which.failure_noted_ = status;
    failures_.push_back(which);
    note_work();
}

void base_iface::wake_up() noexcept {
    asleep_ = false;
    events_.wake();
}

unsigned base_iface::report_failures() {
    unsigned told = 0;
    while (!failures_.empty()) {
        base_ep& first = failures_.front();
        failures_.pop_front();
        if (errors_.failed != nullptr) errors_.failed(errors_.arg, first, first.failure_noted_);
        ++told;
    }
    return told;
}

unsigned base_iface::dispatch_all_waiting() {
    // Round-robin: an endpoint that still waits goes to the back, and each is tried once.
    unsigned sent = 0;
    waiting_list taken;
    taken.swap(waiting_);
    while (!taken.empty()) {
        base_ep& waiter = taken.front();
        taken.pop_front();
        sent += waiter.dispatch_pending();
        if (waiter.queued_ && !waiter.waiting_hook.is_linked()) waiting_.push_back(waiter);
    }
    return sent;
}

void base_iface::describe(ucs::vfs::directory& into) const {
    into.file("transport", [this] { return where_.transport; });
    into.file("device", [this] { return where_.device; });
    into.file("dropped_messages", [this] { return std::to_string(dropped_); });
    into.folder("capability", [this](ucs::vfs::directory& caps) {
        caps.file("max_short", [this] { return std::to_string(attr_.max_short); });
        caps.file("max_bcopy", [this] { return std::to_string(attr_.max_bcopy); });
        caps.file("max_zcopy", [this] { return std::to_string(attr_.max_zcopy); });
        caps.file("latency", [this] { return std::to_string(attr_.latency); });
        caps.file("bandwidth", [this] { return std::to_string(attr_.bandwidth); });
    });
}

}  // namespace uct
