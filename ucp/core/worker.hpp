// A worker, the progress engine: owns interfaces, endpoints, requests and message matching.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ucp/core/context.hpp"
#include "ucp/core/endpoint_table.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/core/keepalive.hpp"
#include "ucp/core/peer_table.hpp"
#include "ucp/core/request_pool.hpp"
#include "ucp/core/shared_limit.hpp"
#include "ucp/core/uninvited.hpp"
#include "ucp/core/worker_view.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/datastruct/id_table.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/sys/lock.hpp"
#include "ucs/sys/usable_memory.hpp"
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

    // --- datapath ---
    [[nodiscard]] ucs::sys::optional_lock& lock() noexcept { return lock_; }
    unsigned progress() {
        unsigned events = 0;
        for (uct::iface* polled : fast_)
            events += polled->progress();
        // An idle worker has time to look for new connections; a busy one must be fast.
        turn_ += events == 0 ? idle_weight : 1;
        if (turn_ >= slow_turn_) [[unlikely]]
            events += progress_slow(events);
        if (!ended_.empty()) [[unlikely]]
            run_ended();
        return events;
    }
    // Completes the request at the end of the current progress; used if a callback that sends could
    // overtake sends that wait. complete_in_order does so only behind other such requests.
    void complete_later(request& ended) noexcept {
        ended_.push_back(ended);
        note_work();
    }
    void complete_in_order(request& done, ucs_status_t status);
    [[nodiscard]] request_pool& requests() noexcept { return requests_; }
    // Access to registered memory on behalf of peers.
    [[nodiscard]] mem::memory_accessor& accessor() noexcept { return accessor_; }

    // Endpoints made by peers' requests that the program has not asked for.
    [[nodiscard]] uninvited_peers& uninvited() noexcept { return uninvited_; }

    // Limit on control messages and replies that wait for room on the lanes to their peers. A peer
    // that sends requests and does not read causes any number of them.
    [[nodiscard]] shared_limit& waiting() noexcept { return waiting_; }
    // Takes memory that counts towards this limit, or one that a feature checks when
    // events::limits_checked is published. If the limit is exceeded, the peer with the largest
    // share fails with the next progress, not at once, because the caller is in the middle of other
    // work.
    void take(shared_limit& limit, limit_share& share, std::uint64_t bytes) noexcept {
        limit.take(share, bytes);
        if (limit.is_passed()) [[unlikely]] {
            turn_ = slow_turn_;
            note_work();
        }
    }
    // Fails the peer with the largest share if the limit is exceeded, and logs the reason: the peer
    // `does` something. Returns the number of failed peers.
    unsigned fail_for_limit(const shared_limit& limit, peer_table::share_getter share_of,
                            const char* does);

    // Throttled log for invalid messages of peers, including those of the interfaces.
    [[nodiscard]] ucs::log::throttle& rejected() noexcept { return rejected_; }
    // Throttled log for workers that no transport reaches: peers may send any number of addresses.
    [[nodiscard]] ucs::log::throttle& unreachable() noexcept { return unreachable_; }
    void count(activity event) noexcept { view_->counters[event].add(); }
    [[nodiscard]] std::uint64_t counted(activity event) const noexcept {
        return view_->counters[event].get();
    }

    // --- endpoints and peers ---
    [[nodiscard]] endpoint_table& endpoints() noexcept { return endpoints_; }
    // Destroys an endpoint or peer at the end of the current progress, because callers may still
    // use it.
    void destroy_later(ep& done);
    void destroy_later(peer& done);
    // Fails the peer with the next progress, see control_channel::send and peer::fail_for_limit.
    void fail_later(peer& failing) noexcept;
    // Continues deferred sends to the peer with the next progress, see
    // ucp/proto/deferred_sends.cpp.
    void resume_later(peer& ready) noexcept;
    // Registers the peer that a lane belongs to; nullptr: the lane is being closed.
    void track_lane(const uct::ep& lane, std::size_t resource, peer* owner);
    [[nodiscard]] keepalive& watch() noexcept { return keepalive_; }
    // The peers by public key and address.
    [[nodiscard]] peer_table& peers() noexcept { return peers_; }
    // --- connections of interfaces, see uct::iface::connection_of ---
    // Returns the connection of a message that is being delivered; 0: not known.
    [[nodiscard]] std::uint64_t connection_of(const uct::peer_bytes& message) const noexcept;
    // Returns the open connections of all interfaces, sorted. May throw std::bad_alloc.
    [[nodiscard]] std::vector<std::uint64_t> living_connections() const;
    // Ends a connection: nothing more is received over it, and the endpoints to its sender fail.
    // Must not be called within the progress of an interface.
    void end_connection(std::uint64_t connection, ucs_status_t status);

    // Makes the next progress look everywhere and wakes a sleeping thread.
    void request_full_progress() noexcept {
        look_everywhere();
        note_work();
    }

    // --- sleeping (worker_sleep.cpp; ucp/wakeup waits) ---
    // To be called before a thread sleeps on the descriptor of events(). UCS_OK: progress has
    // nothing to do, and new events make the descriptor readable. UCS_ERR_BUSY: call progress
    // first.
    [[nodiscard]] ucs_status_t arm() noexcept;
    // Begin and end of the sleep of a thread in ucp/wakeup.
    void begin_sleep() noexcept { ++sleepers_; }
    void end_sleep() noexcept;
    // A thread in ucp/wakeup is awake: clears the wakeup event unless other threads sleep.
    void clear_wakeup() noexcept {
        if (sleepers_ == 0) events_->release_wake();
    }
    // Wakes sleeping threads: the event that they wait for may have come in another thread's
    // progress.
    void wake_sleepers() noexcept { note_work(); }
    // An endpoint begins to wait for its peer's reply (+1), or has it (-1). While one waits, sleeps
    // are short: the peer may be a worker of the thread that sleeps.
    void note_connecting(int change) noexcept { connecting_ += change; }
    // Returns whether progress would find work, as far as memory loads show.
    [[nodiscard]] bool has_work() const noexcept;
    // Returns whether every progress finds the work, even one that does not look everywhere.
    [[nodiscard]] bool has_polled_work() const noexcept;
    // Makes the next progress check descriptors and timers as well.
    void look_everywhere() noexcept {
        turn_ = slow_turn_;
        until_events_ = event_turns;
        events_due_ = 0;
    }
    [[nodiscard]] ucs::async::event_loop& events() noexcept { return *events_; }

    // --- whole worker ---
    [[nodiscard]] const std::vector<std::byte>& address(bool net_only) const noexcept {
        return net_only ? net_address_ : full_address_;
    }
    [[nodiscard]] const context& owner() const noexcept { return context_; }
    [[nodiscard]] const worker_params& params() const noexcept { return params_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    // The key pair by which the worker proves connection messages, see ucp/wireup/proof.hpp.
    [[nodiscard]] const ucs::security::key_pair& identity() const noexcept { return identity_; }
    // Returns the key of connection messages with the worker that has this public key, see
    // ucp/wireup/proof.hpp. Returns nothing if no worker can have it. The last result is cached,
    // because a request is verified by the same key that proves its reply.
    [[nodiscard]] std::optional<ucs::security::key> agree(
        const ucs::security::public_key& other) noexcept;
    [[nodiscard]] uct::iface* interface(std::size_t resource) const noexcept {
        return interfaces_[resource].get();
    }
    [[nodiscard]] std::size_t interface_count() const noexcept { return interfaces_.size(); }
    // The reason why interface(resource) is nullptr.
    [[nodiscard]] const std::string& why_not_opened(std::size_t resource) const noexcept {
        return not_opened_[resource];
    }
    // Polls the interface regularly from now on: it carries traffic that the slow polls would find
    // too late.
    void activate(std::size_t resource);

    [[nodiscard]] std::string info() const;
    void describe(ucs::vfs::directory& into) const override;
    // Extra latency of the resource's device compared with one at this processor's own NUMA node,
    // in seconds.
    [[nodiscard]] double extra_latency(std::size_t resource) const noexcept {
        return extra_latencies_[resource];
    }

protected:
    worker(const context& parent, const worker_params& params,
           std::unique_ptr<ucs::async::event_loop> events);
    // Ends endpoints and peers before the slots are destroyed.
    void end() noexcept;

private:
    // Makes a worker with the slots of all features (ucp/features).
    static std::unique_ptr<worker> make(const context& parent, const worker_params& params,
                                        std::unique_ptr<ucs::async::event_loop> events);
    ucs_status_t open_interfaces();
    void pack_addresses();
    void show();
    // Not inlined, to keep calls that find nothing short. `found` is the number of events that this
    // call of progress has found already.
    [[gnu::noinline]] unsigned progress_slow(unsigned found);
    unsigned progress_events();
    unsigned empty_trash();
    unsigned fail_noted();
    unsigned fail_for_limits();
    unsigned resume_peers();
    unsigned poll_unused();
    [[gnu::noinline]] void run_ended();
    // Wakes a sleeping thread, because there is work for progress.
    void note_work() noexcept {
        if (asleep_) [[unlikely]]
            wake_up();
    }
    void wake_up() noexcept;
    [[nodiscard]] ucs_status_t join_event_set() const;
    void leave_event_set() const noexcept;
    void set_turns();
    [[nodiscard]] bool is_home(std::size_t resource) const noexcept;
    [[nodiscard]] bool is_polled(const uct::iface& iface) const noexcept;

    // The event loop (new connections, liveness) is polled once in so many calls of progress.
    static constexpr unsigned event_turns = 128;
    static constexpr unsigned idle_weight = 4;  // weight of an idle call
    // Polling the event loop is a system call, which takes as long as a message: a worker that
    // waits for messages does not poll again within this time.
    static constexpr ucs::time::nanoseconds event_pause = 10 * ucs::time::microsecond;

    std::vector<uct::iface*> fast_;
    unsigned turn_ = 0;
    bool memory_lanes_ = false;  // lanes that are polled by memory loads are in use
    bool asleep_ = false;        // since arm(), until the first event
    unsigned sleepers_ = 0;      // threads in ucp/wakeup
    int connecting_ = 0;
    ucs::async::event_loop::timer_id nap_ = 0;
    unsigned slow_turn_ = 1;
    unsigned until_events_ = 0;
    ucs::time::nanoseconds events_due_ = 0;
    std::vector<uct::iface*> slow_;        // in use, polled by a system call
    std::vector<double> extra_latencies_;  // of each resource
    const context& context_;
    ucs::sys::optional_lock lock_;
    request_pool requests_;
    ucs::datastruct::list<request, &request::active_hook> ended_;
    endpoint_table endpoints_;
    mem::memory_accessor accessor_;

    ucs::log::throttle rejected_;
    ucs::log::throttle unreachable_;
    const worker_params params_;
    const ucs::security::key_pair identity_;
    struct agreement {
        ucs::security::public_key with;
        std::optional<ucs::security::key> key;
    };
    std::optional<agreement> last_agreement_;
    const std::uint64_t uid_;
    std::unique_ptr<ucs::async::event_loop> events_;
    keepalive keepalive_;
    const std::shared_ptr<worker_view> view_;
    std::unique_ptr<ucs::vfs::daemon_listener> daemon_listener_;
    std::vector<std::unique_ptr<uct::iface>>
        interfaces_;  // by resource; nullptr: could not be opened
    std::vector<std::string> not_opened_;
    std::vector<std::byte> full_address_;
    std::vector<std::byte> net_address_;
    uninvited_peers uninvited_{uninvited_limits::of_process()};
    peer_table peers_{*this};
    shared_limit waiting_{ucs::sys::peer_memory_limit()};
    std::unordered_map<const uct::ep*, peer*> lanes_;
    std::vector<std::size_t> lane_counts_;  // by resource
    bool ending_ = false;                   // the worker is being destroyed
    ucs::datastruct::auto_list<ep, &ep::unwanted_hook> trash_eps_;
    ucs::datastruct::auto_list<peer, &peer::trash_hook> trash_peers_;
    ucs::datastruct::auto_list<peer, &peer::failing_hook> failing_peers_;
    ucs::datastruct::auto_list<peer, &peer::resuming_hook> resuming_peers_;
};

// Holds the worker's lock for the duration of a call from outside.
using worker_guard = std::lock_guard<ucs::sys::optional_lock>;

}  // namespace ucp
