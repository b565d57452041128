#include "uct/base/base_iface.hpp"

#include <string>
#include <utility>

namespace uct {

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

void base_iface::note_failure(base_ep& failed_ep, ucs_status_t status) noexcept {
    if (failed_ep.failure_noted_ != UCS_OK) return;
    failed_ep.failure_noted_ = status;
    failures_.push_back(failed_ep);
    note_work();
}

void base_iface::wake_up() noexcept {
    asleep_ = false;
    events_.latch_wake();
}

unsigned base_iface::report_failures() {
    unsigned reported = 0;
    while (!failures_.empty()) {
        base_ep& first = failures_.front();
        failures_.pop_front();
        if (errors_.failed != nullptr) errors_.failed(errors_.arg, first, first.failure_noted_);
        ++reported;
    }
    return reported;
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
        if (waiter.queued_ > 0 && !waiter.waiting_hook.is_linked()) waiting_.push_back(waiter);
    }
    return sent;
}

void base_iface::describe(ucs::vfs::directory& into) const {
    into.file("transport", [this] { return where_.transport; });
    into.file("device", [this] { return where_.device; });
    into.file("dropped_messages", [this] { return std::to_string(dropped_); });
    into.folder("capability", [this](ucs::vfs::directory& caps) { describe_limits(caps); });
}

void base_iface::describe_limits(ucs::vfs::directory& into) const {
    const auto number = [](ucs::vfs::directory& folder, const char* name,
                           const std::size_t& value) {
        folder.file(name, [&value] { return std::to_string(value); });
    };
    const iface_attr& have = attr_;
    into.folder("am", [number, &have](ucs::vfs::directory& am) {
        number(am, "max_short", have.max_short);
        number(am, "max_bcopy", have.max_bcopy);
        number(am, "max_zcopy", have.max_zcopy);
        number(am, "max_hdr", have.max_zcopy_header);
        number(am, "max_iov", have.max_iov);
    });
    for (const auto& [name, operation] :
         {std::pair{"get", op::get_zcopy}, {"put", op::put_zcopy}}) {
        if (!have.ops.has(operation)) continue;
        into.folder(name, [number, &have](ucs::vfs::directory& rma) {
            number(rma, "max_zcopy", have.max_rma);
            number(rma, "max_iov", have.max_iov);
        });
    }
    if (have.ops.has(op::atomic)) {
        for (const auto& [name, kinds] :
             {std::pair{"atomic32", &have.atomics.words32}, {"atomic64", &have.atomics.words64}}) {
            into.folder(name, [kinds = kinds](ucs::vfs::directory& words) {
                words.file("post", [kinds] { return names_of(kinds->posted); });
                words.file("fetch", [kinds] { return names_of(kinds->fetching); });
            });
        }
    }
    into.folder("flag", [&have](ucs::vfs::directory& flags) {
        for (const auto& [operation, name] : op_names) {
            if (have.ops.has(operation)) flags.file(name, [] { return std::string("y"); });
        }
    });
    into.file("latency", [&have] { return std::to_string(have.latency); });
    into.file("bandwidth", [&have] { return std::to_string(have.bandwidth); });
    into.file("overhead", [&have] { return std::to_string(have.overhead); });
}

}  // namespace uct
