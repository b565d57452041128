// A group: the ranks that do collectives together.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "ucg/core/agreement.hpp"
#include "ucg/core/context.hpp"
#include "ucg/core/group_fabric.hpp"
#include "ucg/core/group_wireup.hpp"
#include "ucg/core/kept_requests.hpp"
#include "ucg/core/request.hpp"
#include "ucg/net/ucp_fabric.hpp"
#include "ucg/node/backoff.hpp"
#include "ucg/node/fabric.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/select/measure.hpp"

namespace ucg {

// Owned by the program. While it is being made, only its state can be used. Owner context; the
// context outlives it.
class group {
public:
    // Begins to make the group. std::bad_alloc.
    group(context& context, std::unique_ptr<exchange> exchange, const group_wireup::params& params);
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    // Returns UCS_INPROGRESS, UCS_OK if the group can be used, or why it never will. Any thread; so
    // are the const functions of a group that can be used.
    [[nodiscard]] ucs_status_t state() const noexcept {
        return state_.load(std::memory_order_acquire);
    }
    // Returns whether this rank is in none of the groups that were made.
    [[nodiscard]] bool is_none() const noexcept { return none_; }

    [[nodiscard]] context& get_context() const noexcept { return context_; }

    // Only of a group that can be used:
    [[nodiscard]] schedule::rank_t rank() const noexcept { return made_.rank; }
    [[nodiscard]] schedule::rank_t size() const noexcept { return made_.size(); }
    [[nodiscard]] const schedule::placement& placement() const noexcept { return made_.placement; }
    [[nodiscard]] schedule::fabric& fabric() noexcept { return *fabric_; }
    // Returns the addresses of its ranks; none if messages use no network.
    [[nodiscard]] net::member_addresses addresses() const {
        return far_ != nullptr ? far_->addresses() : net::member_addresses();
    }
    // Returns how many addresses this process keeps.
    [[nodiscard]] std::size_t cached_address_count() const noexcept {
        return far_ != nullptr ? far_->addresses().book()->cached_count() : 0;
    }
    [[nodiscard]] schedule::frame_pool& frames() noexcept { return frames_; }
    // Returns nullptr if the group does no collectives of nodes.
    [[nodiscard]] node::engine* engine() noexcept { return engine_ ? &*engine_ : nullptr; }
    [[nodiscard]] const schedule::link_cost& links() const noexcept { return links_; }
    // `bytes`: as arguments::bytes; the overload without it uses the call's count.
    [[nodiscard]] schedule::shape shape_of(const schedule::call& call) const noexcept;
    [[nodiscard]] schedule::shape shape_of(const schedule::call& call, double bytes) const noexcept;
    [[nodiscard]] kept_requests& kept() noexcept { return kept_; }
    // Returns how many groups of this group's ranks are being made.
    [[nodiscard]] unsigned& splits() noexcept { return splits_; }
    // Returns how many siblings can still be made. Any thread.
    [[nodiscard]] std::uint32_t siblings_left() const noexcept {
        return made_.copies - copies_used_.load(std::memory_order_relaxed);
    }
    // Makes the next sibling. Precondition: one is left. If it cannot be made, it counts as made,
    // and the other ranks learn that this rank takes part in none of its operations.
    [[nodiscard]] ucs::result<std::unique_ptr<group>> make_sibling() noexcept;
    // Requests of the program that were not freed.
    [[nodiscard]] unsigned& requests() noexcept { return requests_; }

    // Makes progress on everything of this group except its worker. Returns how much happened.
    unsigned progress() noexcept;
    // Makes progress on the things that this request waits for. Returns how much happened.
    unsigned progress(const request& request) noexcept;
    // Makes progress until the request has ended; yields the processor meanwhile.
    ucs_status_t wait(const request& request) noexcept;

    // Runs a barrier on the node's engine without a request: without a time limit or comparison, in
    // one thread. Only if has_fast_barrier(); otherwise the caller uses a request.
    [[nodiscard]] bool has_fast_barrier() const noexcept { return fast_barrier_.has_value(); }
    ucs_status_t run_fast_barrier() noexcept;

    // Returns the ranks that have not started an operation of this group, as far as this rank
    // knows, or otherwise those that it waits for.
    [[nodiscard]] std::vector<schedule::rank_t> missing(const schedule::operation& op) const;

    // For a group on one node: this rank takes part in nothing any more. Operations that other
    // ranks need it for end with that status, and so do operations that it starts itself.
    void give_up(ucs_status_t why) noexcept;

    // Adds a request with a time limit.
    void watch(request& request) noexcept;

    // For debugging: whether arguments are compared, and the comparison (agreement.hpp).
    [[nodiscard]] bool checks() const noexcept { return context_.options().check; }
    void compare(request& request) noexcept { agreement_.compare(request); }
    void leave_comparison(request& ended) noexcept { agreement_.leave(ended); }
    void compare_next() noexcept { agreement_.start_next(); }
    void stop_comparing(request& request, ucs_status_t why) noexcept {
        agreement_.stop(request, why);
    }
    [[nodiscard]] std::vector<schedule::rank_t> missing_in_comparison() const {
        return agreement_.missing();
    }

private:
    // Makes a sibling of `first` in a copy of its memory. std::bad_alloc.
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
    const ucs::time::nanoseconds deadline_;  // for making the group
    std::atomic<ucs_status_t> state_ = UCS_INPROGRESS;
    bool none_;
    membership made_;
    bool has_id_ = false;
    std::atomic<std::uint32_t> copies_used_ = 1;  // of made_.memory
    schedule::frame_pool frames_;
    std::optional<node::watch> lives_;
    std::optional<node::engine> engine_;
    std::optional<node::backoff> backoff_;
    std::unique_ptr<node::fabric> near_;    // messages use one
    std::unique_ptr<net::ucp_fabric> far_;  // of these two
    std::optional<group_fabric> fabric_;
    schedule::link_cost links_;
    std::vector<select::price_sample> samples_;
    std::optional<schedule::operation> measuring_;  // while the group is being made
    ucs::datastruct::auto_list<request, &request::timed_hook> timed_;
    unsigned looks_ = 0;
    unsigned splits_ = 0;
    unsigned requests_ = 0;
    agreement agreement_{*this};
    kept_requests kept_;
    std::optional<node::operation> fast_barrier_;
};

}  // namespace ucg
