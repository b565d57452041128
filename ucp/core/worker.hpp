// A worker, the progress engine: owns interfaces, endpoints, requests and message matching.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "ucp/core/context.hpp"
#include "ucp/core/endpoint_table.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/core/interfaces.hpp"
#include "ucp/core/keepalive.hpp"
#include "ucp/core/own_identity.hpp"
#include "ucp/core/peer_limits.hpp"
#include "ucp/core/peer_table.hpp"
#include "ucp/core/postponed_work.hpp"
#include "ucp/core/request_pool.hpp"
#include "ucp/core/schedule.hpp"
#include "ucp/core/worker_log.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/sys/lock.hpp"
#include "ucs/vfs/daemon_listener.hpp"

namespace ucp {

// Parameters of ucp_worker_create with defaults.
struct worker_params {
    ucs_thread_mode_t thread_mode = UCS_THREAD_MODE_SINGLE;
    void* user_data = nullptr;
    std::string name;
    std::uint64_t client_id = 0;
    std::size_t am_alignment = 1;  // alignment of data that handlers see; a power of two
    bool ignore_request_leak = false;
    bool wakeup = false;          // the program sleeps until there are events
    bool edge_triggered = false;  // `event_fd` reports edges
    int event_fd = -1;            // epoll set of the program, or none
};

// Owns its interfaces, endpoints and requests. In thread mode MULTI every call from outside holds
// `lock()`; otherwise the caller ensures that one thread at a time uses the worker.
class worker : public ucs::vfs::object {
public:
    static ucs::result<std::unique_ptr<worker>> create(const context& parent,
                                                       const worker_params& params);
    virtual ~worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    [[nodiscard]] ucs::sys::optional_lock& lock() noexcept { return lock_; }
    unsigned progress() {
        unsigned events = 0;
        for (uct::iface* polled : interfaces_.fast())
            events += polled->progress();
        if (schedule_.is_slow_turn(events)) [[unlikely]]
            events += progress_slow(events);
        if (postponed_.has_ended()) [[unlikely]]
            postponed_.run_ended();
        return events;
    }
    // To be called before a thread sleeps on the descriptor of events(). UCS_OK: progress has
    // nothing to do, and new events make the descriptor readable. UCS_ERR_BUSY: call progress
    // first.
    [[nodiscard]] ucs_status_t arm() noexcept;
    // Returns whether progress would find work, as far as memory loads show.
    [[nodiscard]] bool has_work() const noexcept;

    // The parts of a worker.
    [[nodiscard]] ucp::interfaces& interfaces() noexcept { return interfaces_; }
    [[nodiscard]] const ucp::interfaces& interfaces() const noexcept { return interfaces_; }
    [[nodiscard]] ucp::schedule& schedule() noexcept { return schedule_; }
    [[nodiscard]] postponed_work& postponed() noexcept { return postponed_; }
    [[nodiscard]] request_pool& requests() noexcept { return requests_; }
    [[nodiscard]] endpoint_table& endpoints() noexcept { return endpoints_; }
    // The peers by public key and address.
    [[nodiscard]] peer_table& peers() noexcept { return peers_; }
    [[nodiscard]] peer_limits& limits() noexcept { return limits_; }
    [[nodiscard]] own_identity& identity() noexcept { return identity_; }
    [[nodiscard]] const own_identity& identity() const noexcept { return identity_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return identity_.uid(); }
    [[nodiscard]] worker_log& log() noexcept { return log_; }
    [[nodiscard]] const worker_log& log() const noexcept { return log_; }
    [[nodiscard]] keepalive& watch() noexcept { return keepalive_; }
    // Access to registered memory on behalf of peers.
    [[nodiscard]] mem::memory_accessor& accessor() noexcept { return accessor_; }
    [[nodiscard]] ucs::async::event_loop& events() noexcept { return *events_; }

    [[nodiscard]] const context& owner() const noexcept { return context_; }
    [[nodiscard]] const worker_params& params() const noexcept { return params_; }
    void describe(ucs::vfs::directory& into) const override;

protected:
    worker(const context& parent, const worker_params& params,
           std::unique_ptr<ucs::async::event_loop> events);
    // Ends endpoints and peers before the slots are destroyed.
    void end() noexcept;

private:
    // Makes a worker with the slots of all features (ucp/features).
    static std::unique_ptr<worker> make(const context& parent, const worker_params& params,
                                        std::unique_ptr<ucs::async::event_loop> events);
    void show();
    // Not inlined, to keep calls that find nothing short. `found` is the number of events that this
    // call of progress has found already.
    [[gnu::noinline]] unsigned progress_slow(unsigned found);
    unsigned progress_events();
    [[nodiscard]] ucs_status_t join_event_set() const;
    void leave_event_set() const noexcept;

    const context& context_;
    ucs::sys::optional_lock lock_;
    request_pool requests_;
    // Every call of progress reads the last member of the first and the first members of the other
    // two. postponed_ refers to requests.
    ucp::interfaces interfaces_{*this};
    ucp::schedule schedule_;
    postponed_work postponed_{*this, schedule_};
    endpoint_table endpoints_;
    mem::memory_accessor accessor_;
    worker_log log_;
    const worker_params params_;
    own_identity identity_;
    std::unique_ptr<ucs::async::event_loop> events_;
    keepalive keepalive_;
    std::unique_ptr<ucs::vfs::daemon_listener> daemon_listener_;
    peer_limits limits_{*this, schedule_};
    peer_table peers_{*this};
};

// Holds the worker's lock for the duration of a call from outside.
using worker_guard = std::lock_guard<ucs::sys::optional_lock>;

}  // namespace ucp
