// Handlers, attributes and waiting endpoints, shared by every transport's interface.
#pragma once

#include <array>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/log/throttle.hpp"
#include "uct/api/component.hpp"
#include "uct/base/base_ep.hpp"

namespace uct {

extern const ucs::log::component uct_log;

// Base of all interfaces: active message table, error reports, endpoints that wait for resources.
// Owner context.
class base_iface : public iface {
public:
    base_iface(const resource& where, const iface_params& params);
    ~base_iface() override;

    [[nodiscard]] const iface_attr& attr() const noexcept final { return attr_; }
    void set_am_handler(am_id id, const am_handler& handler) final;
    void set_error_handler(const error_handler& handler) final { errors_ = handler; }
    [[nodiscard]] bool has_work() const noexcept override { return !failures_.empty(); }
    [[nodiscard]] ucs_status_t arm() noexcept override { return UCS_ERR_UNSUPPORTED; }
    void describe(ucs::vfs::directory& into) const override;

    [[nodiscard]] const resource& where() const noexcept { return where_; }
    // For lines about what a peer sent or did wrong.
    [[nodiscard]] ucs::log::throttle& rejected() noexcept { return rejected_; }

protected:
    friend class base_ep;

    // Hands a received message to its handler. `id` may come from a peer: it is masked, and an id
    // without handler is logged and dropped.
    void deliver(am_id id, void* data, std::size_t length) {
        const am_handler& handler = handlers_[id % am_id_count];
        handler.deliver(handler.arg, data, length);
    }
    [[nodiscard]] const am_handler& handler(am_id id) const noexcept {
        return handlers_[id % am_id_count];
    }

    // Notes that an endpoint failed; report_failures, called from progress, tells the error
    // handler. Split so that no operation calls back into the protocol layer. An endpoint fails
    // once: what is noted after its first failure is ignored.
    void note_failure(base_ep& which, ucs_status_t status) noexcept;
    unsigned report_failures();

    // The end of arm(): asleep, unless there is something to do.
    [[nodiscard]] ucs_status_t fall_asleep() noexcept {
        if (has_work()) return UCS_ERR_BUSY;
        asleep_ = true;
        return UCS_OK;
    }
    // The owner, in another thread than the one that sleeps, made something to do for progress.
    void note_work() noexcept {
        if (asleep_) [[unlikely]]
            wake_up();
    }

    // Calls `visit` for each endpoint with queued requests.
    template<class Visit>
    void for_each_waiting(Visit&& visit) {
        for (base_ep& waiter : waiting_)
            visit(waiter);
    }

    [[nodiscard]] bool waits_for_room() const noexcept { return !waiting_.empty(); }

    // Lets waiting endpoints try again. Transports call it from progress when resources may be
    // back; cheap when nobody waits.
    unsigned dispatch_waiting() { return waits_for_room() ? dispatch_all_waiting() : 0; }

    iface_attr attr_;
    const resource where_;
    ucs::async::event_loop& events_;
    const std::uint64_t worker_uid_;

private:
    void describe_limits(ucs::vfs::directory& into) const;
    static void drop_unknown(void* arg, void* data, std::size_t length);
    unsigned dispatch_all_waiting();
    void wake_up() noexcept;

    using waiting_list = ucs::datastruct::list<base_ep, &base_ep::waiting_hook>;
    using failed_list = ucs::datastruct::list<base_ep, &base_ep::failure_hook>;

    std::array<am_handler, am_id_count> handlers_;
    error_handler errors_;
    waiting_list waiting_;
    failed_list failures_;       // to be told
    bool asleep_ = false;        // since arm(); ends with the first thing that wakes
    std::uint64_t dropped_ = 0;  // messages that no handler wanted
    ucs::log::throttle own_rejected_;
    ucs::log::throttle& rejected_;
};

}  // namespace uct
