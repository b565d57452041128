// The ranks that do collectives together.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "ucg/core/agreement.hpp"
#include "ucg/core/context.hpp"
#include "ucg/core/group_fabric.hpp"
#include "ucg/core/joining.hpp"
#include "ucg/core/kept_requests.hpp"
#include "ucg/core/request.hpp"
#include "ucg/net/ucp_fabric.hpp"
#include "ucg/node/fabric.hpp"
#include "ucg/node/patience.hpp"
#include "ucg/schedule/frame_pool.hpp"
#include "ucg/select/measure.hpp"

namespace ucg {

// Owned by the program. While it is being made it only has a state. Owner context; the context
// outlives it.
class group {
public:
    // Begins to make it. std::bad_alloc.
    group(context& of, std::unique_ptr<exchange> by, const joining::wish& wish);
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    ~group();

    // UCS_INPROGRESS; UCS_OK: it can be used; else why it will never. From any thread; what is
    // asked of one that can be used, too, if it says const.
    [[nodiscard]] ucs_status_t state() const noexcept {
        return state_.load(std::memory_order_acquire);
    }
    // Whether this rank is in none of the groups that were made.
    [[nodiscard]] bool is_none() const noexcept { return none_; }

    [[nodiscard]] context& of() const noexcept { return context_; }

    // Of one that can be used:
    [[nodiscard]] schedule::rank_t rank() const noexcept { return made_.rank; }
    [[nodiscard]] schedule::rank_t size() const noexcept { return made_.size(); }
    [[nodiscard]] const schedule::placement& where() const noexcept { return made_.where; }
    [[nodiscard]] schedule::fabric& over() noexcept { return *over_; }
    // Where its ranks are found; of nobody where messages go over no network.
    [[nodiscard]] net::contacts contacts() const {
        return far_ != nullptr ? far_->all() : net::contacts();
    }
    // Ranks whose address is kept here.
    [[nodiscard]] std::size_t addresses() const noexcept {
        return far_ != nullptr ? far_->all().book()->kept() : 0;
    }
    [[nodiscard]] schedule::frame_pool& frames() noexcept { return frames_; }
    // nullptr: nothing is done together on nodes.
    [[nodiscard]] node::engine* engine() noexcept { return engine_ ? &*engine_ : nullptr; }
    [[nodiscard]] const schedule::link_cost& links() const noexcept { return links_; }
    // `bytes`: as arguments::bytes; without, of the call's count.
    [[nodiscard]] schedule::shape shape_of(const schedule::call& what) const noexcept;
    [[nodiscard]] schedule::shape shape_of(const schedule::call& what, double bytes) const noexcept;
    [[nodiscard]] kept_requests& kept() noexcept { return kept_; }
    // How many groups are being made of this one's ranks.
    [[nodiscard]] unsigned& splits() noexcept { return splits_; }
    // How many siblings can still be made. Any thread.
    [[nodiscard]] std::uint32_t siblings_left() const noexcept {
        return made_.copies - copies_used_.load(std::memory_order_relaxed);
    }
    // Makes the next one; there is one left. If it cannot be made, it counts as made, and the other
    // ranks hear that this one takes part in none of its operations.
    [[nodiscard]] ucs::result<std::unique_ptr<group>> make_sibling() noexcept;
    // Of the program's that were not freed.
    [[nodiscard]] unsigned& requests() noexcept { return requests_; }

    // Everything of this group but what its worker does. How much happened.
    unsigned progress() noexcept;
    // What this request waits for. How much happened.
    unsigned progress(const request& of) noexcept;
    // Moves everything on until the request ended; gives up the processor meanwhile.
    ucs_status_t wait(const request& until) noexcept;

    // A barrier by the node's engine without a request: no time limit, no comparing, one thread.
    // Only where meets(), else a request does it.
    [[nodiscard]] bool meets() const noexcept { return meeting_.has_value(); }
    ucs_status_t meet() noexcept;

    // The ranks that have not begun an operation of this group, as far as this one can find out;
    // else those that it waits for.
    [[nodiscard]] std::vector<schedule::rank_t> missing(const schedule::operation& what) const;

    // Of a group on one node: this rank takes part in nothing any more. All that others need it for
    // ends with that status, and so does what it starts itself.
    void give_up(ucs_status_t why) noexcept;

    // Requests whose time is limited.
    void watch(request& what) noexcept;

    // Debugging: whether arguments are compared, and doing so (agreement.hpp).
    [[nodiscard]] bool checks() const noexcept { return context_.options().check; }
    void compare(request& what) noexcept { agreement_.compare(what); }
    void leave_comparison(request& ended) noexcept { agreement_.leave(ended); }
    void compare_next() noexcept { agreement_.go_on(); }
    void stop_comparing(request& what, ucs_status_t why) noexcept { agreement_.stop(what, why); }
    [[nodiscard]] std::vector<schedule::rank_t> missing_in_comparison() const {
        return agreement_.missing();
    }

private:
    // A sibling of `first`, in a copy of its memory. std::bad_alloc.
    group(const group& first, const node::segment& memory);
    void advance() noexcept;
    void join() noexcept;
    ucs_status_t build();
    ucs_status_t prepare_meeting();
    template<class Done>
    void wait_until(const Done& done, bool by_engine) noexcept;
    ucs_status_t measure();
    void use_links_of_user() noexcept;
    void stop_measuring(ucs_status_t why) noexcept;
    unsigned move() noexcept;
    void expire() noexcept;
    void close() noexcept;

    context& context_;
    std::optional<joining> joining_;
    const ucs::time::nanoseconds deadline_;  // of its making
    std::atomic<ucs_status_t> state_ = UCS_INPROGRESS;
    bool none_;
    membership made_;
    bool has_id_ = false;
    std::atomic<std::uint32_t> copies_used_ = 1;  // of made_.memory
    schedule::frame_pool frames_;
    std::optional<node::watch> lives_;
    std::optional<node::engine> engine_;
    std::optional<node::patience> patience_;
    std::unique_ptr<node::fabric> near_;    // messages: one of
    std::unique_ptr<net::ucp_fabric> far_;  // these two
    std::optional<group_fabric> over_;
    schedule::link_cost links_;
    std::vector<select::price_sample> samples_;
    std::optional<schedule::operation> measuring_;  // while the group is being made
    ucs::datastruct::auto_list<request, &request::timed_hook> timed_;
    unsigned looks_ = 0;
    unsigned splits_ = 0;
    unsigned requests_ = 0;
    agreement agreement_{*this};
    kept_requests kept_;
    std::optional<node::operation> meeting_;
};

}  // namespace ucg
