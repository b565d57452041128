// Base of the interfaces of all transports: handlers, attributes and waiting endpoints.
#pragma once

#include <array>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/log/throttle.hpp"
#include "uct/api/component.hpp"
#include "uct/base/base_ep.hpp"
#include "uct/base/log.hpp"

namespace uct {

// Holds the active message table, failures to report, and endpoints that wait for resources. Owner
// context.
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
    // Throttle for log lines about errors of peers.
    [[nodiscard]] ucs::log::throttle& rejected() noexcept { return rejected_; }

protected:
    friend class base_ep;

    // Passes a received message to its handler. `id` may come from a peer: it is masked, and an id
    // without handler is logged and dropped.
    void deliver(am_id id, void* data, std::size_t length) {
        const am_handler& handler = handlers_[id % am_id_count];
        handler.deliver(handler.arg, data, length);
    }
    [[nodiscard]] const am_handler& handler(am_id id) const noexcept {
        return handlers_[id % am_id_count];
    }

    // Records that an endpoint failed; report_failures, called from progress, calls the error
    // handler. The two are separate so that no operation calls back into the protocol layer. An
    // endpoint fails once: failures after the first one are ignored.
    void note_failure(base_ep& failed_ep, ucs_status_t status) noexcept;
    unsigned report_failures();

    // Last step of arm(): the interface is asleep, unless there is work.
    [[nodiscard]] ucs_status_t fall_asleep() noexcept {
        if (has_work()) return UCS_ERR_BUSY;
        asleep_ = true;
        return UCS_OK;
    }
    // The owner, in another thread than the sleeping one, created work for progress.
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

    // Lets waiting endpoints retry. Transports call it from progress when resources may be
    // available; cheap if no endpoint waits.
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
    failed_list failures_;       // to be reported
    bool asleep_ = false;        // since arm(), until the first wake-up
    std::uint64_t dropped_ = 0;  // messages without handler
    ucs::log::throttle own_rejected_;
    ucs::log::throttle& rejected_;
};

}  // namespace uct
