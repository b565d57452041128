// A group: the ranks that take part in the same collectives, like an MPI communicator.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "ucg/core/agreement.hpp"
#include "ucg/core/context.hpp"
#include "ucg/core/group_wireup.hpp"
#include "ucg/core/request.hpp"
#include "ucg/core/request_cache.hpp"
#include "ucg/net/ucp_fabric.hpp"
#include "ucg/node/engine/group_fabric.hpp"
#include "ucg/node/rings/fabric.hpp"
#include "ucg/node/sleeper.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/select/measure.hpp"

namespace ucg {

class collective_request;
class group;

// Makes groups of the same ranks, in copies of the node's memory that the first group reserved.
// Owned by the first group.
class siblings {
public:
    explicit siblings(group& first) noexcept : first_(first) {}

    // Returns how many can still be made. Any thread.
    [[nodiscard]] std::uint32_t left() const noexcept;
    // Makes the next one (ucg_group_make_sibling). Precondition: left() is not 0. If this fails,
    // the sibling counts as made, and the other ranks are notified that this rank takes part in
    // none of its operations.
    [[nodiscard]] ucs::result<std::unique_ptr<group>> make() noexcept;

private:
    group& first_;
    std::atomic<std::uint32_t> used_ = 1;  // copies of the memory, including the first group's
};

// Owned by the program; the context must outlive it. Some functions may be called only when the
// group is complete, see below. Owner context.
class group {
public:
    // Begins to make the group, which progress() then continues. May throw std::bad_alloc.
    group(context& context, std::unique_ptr<exchange> exchange, const group_wireup::params& params);
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    // Returns UCS_INPROGRESS while the group is being made, UCS_OK once it can be used, or the
    // error with which its creation failed. Any thread may call this, and the const functions of a
    // group that can be used.
    [[nodiscard]] ucs_status_t state() const noexcept {
        return state_.load(std::memory_order_acquire);
    }
    // Returns whether this object comes from a split in which this rank joined no group
    // (UCG_SPLIT_NONE).
    [[nodiscard]] bool is_none() const noexcept { return none_; }

    [[nodiscard]] context& get_context() const noexcept { return context_; }

    // The remaining functions, except progress(), requests() and splits(), require that state() is
    // UCS_OK.
    [[nodiscard]] schedule::rank_t rank() const noexcept { return made_.rank; }
    [[nodiscard]] schedule::rank_t size() const noexcept { return made_.size(); }
    [[nodiscard]] const schedule::placement& placement() const noexcept { return made_.placement; }
    [[nodiscard]] schedule::fabric& fabric() noexcept { return *fabric_; }
    // Returns the worker addresses of the ranks; empty if all ranks are on one node.
    [[nodiscard]] const net::member_addresses& addresses() const noexcept;
    [[nodiscard]] schedule::frame_pool& frames() noexcept { return frames_; }
    // Returns the node's engine, or nullptr if this rank's node has no shared memory.
    [[nodiscard]] node::engine* engine() noexcept { return engine_ ? &*engine_ : nullptr; }
    [[nodiscard]] const schedule::link_cost& links() const noexcept { return links_; }
    // Returns the input for choosing an algorithm for the call. `bytes` is arguments::bytes; the
    // overload without it computes it from the call's count.
    [[nodiscard]] schedule::shape shape_of(const schedule::call& call) const noexcept;
    [[nodiscard]] schedule::shape shape_of(const schedule::call& call, double bytes) const noexcept;
    // The requests of blocking calls. A call that waits does not exclude calls of other threads,
    // which use other requests.
    [[nodiscard]] request_cache<collective_request, 16>& kept() noexcept { return kept_; }
    // Objects that need the group.
    struct dependents {
        unsigned requests = 0;  // that the program has not freed
        unsigned splits = 0;    // that are not complete; group_exchange counts them
    };
    [[nodiscard]] dependents& used_by() noexcept { return used_by_; }
    [[nodiscard]] siblings& copies() noexcept { return siblings_; }

    // Makes progress on this group, but not on the worker. Returns the number of events.
    unsigned progress() noexcept;
    // Makes progress on everything that this request may wait for. Returns the number of events.
    unsigned progress(const request& request) noexcept;
    // Makes progress until the request has ended, and returns its status. Yields the processor
    // or sleeps while nothing happens.
    ucs_status_t wait(const request& request) noexcept;

    // Runs a barrier on the node's engine without a request, and returns its status. Returns
    // nothing if the caller must use a request: the engine is not the cheapest choice, or an option
    // or thread mode demands a time limit, a comparison of arguments or a lock.
    std::optional<ucs_status_t> run_fast_barrier() noexcept;

    // Adds a request with a time limit; expire() ends it when the time is up.
    void watch(request& request) noexcept;

    // The comparison of arguments between ranks, for debugging.
    [[nodiscard]] agreement& compared() noexcept { return agreement_; }

private:
    friend class siblings;
    // Makes a sibling of `first` in `memory`. May throw std::bad_alloc.
    group(const group& first, const node::shared_memory& memory);
    void advance() noexcept;
    void join() noexcept;
    ucs_status_t build();
    ucs_status_t prepare_fast_barrier();
    template<class Done>
    void wait_until(const Done& done, bool by_engine) noexcept;
    ucs_status_t measure();
    void use_links_of_user() noexcept;
    void stop_measuring(ucs_status_t why) noexcept;
    unsigned move() noexcept;
    void expire() noexcept;
    void close() noexcept;

    context& context_;
    std::optional<group_wireup> wireup_;
    const ucs::time::nanoseconds deadline_;  // by which the group must have been made
    std::atomic<ucs_status_t> state_ = UCS_INPROGRESS;
    bool none_;
    membership made_;
    bool has_id_ = false;
    siblings siblings_{*this};
    schedule::frame_pool frames_;
    std::optional<node::watch> lives_;
    std::optional<node::engine> engine_;
    std::optional<node::sleeper> sleeper_;
    ucs::arch::backoff backoff_;
    std::unique_ptr<node::fabric> near_;    // carries messages if all ranks are on one node
    std::unique_ptr<net::ucp_fabric> far_;  // carries messages otherwise
    std::optional<node::group_fabric> fabric_;
    schedule::link_cost links_;
    std::vector<select::price_sample> samples_;
    std::optional<schedule::operation> measuring_;  // measures links_ while the group is made
    ucs::datastruct::auto_list<request, &request::timed_hook> timed_;
    unsigned looks_ = 0;  // calls of progress(), only some of which check time limits
    dependents used_by_;
    agreement agreement_{*this, context_.options().check};
    request_cache<collective_request, 16> kept_;
    std::optional<node::operation> fast_barrier_;
};

}  // namespace ucg
