#include "ucg/schedule/operation.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>
#include <utility>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::schedule {

ucs_status_t operation::init(const algorithm& by, const call& what) noexcept try {
    by_ = &by;
    program_ = nullptr;
    call_ = what;
    me_ = member(*this, fabric_.rank(), fabric_.size());
    if (what.what == collective::reduce_scatter) {
        places_.resize(me_.size());
        for (rank_t i = 1; i < me_.size(); ++i)
            places_[i] = places_[i - 1] + what.counts[i - 1];
        call_.places = places_.data();
    }
    const std::size_t asked = by.scratch_on_nodes != nullptr
                                  ? by.scratch_on_nodes(call_, me_.rank(), *fabric_.where())
                                  : by.scratch(call_, me_.rank(), me_.size());
    const std::size_t bytes = arena::for_pieces_of(asked);
    memory_.reset(new std::byte[bytes]);
    scratch_ = {memory_.get(), bytes};
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

void operation::init(program& what) noexcept {
    by_ = nullptr;
    program_ = &what;
    me_ = member(*this, fabric_.rank(), fabric_.size());
}

bool operation::uses_nodes() const noexcept {
    return by_ != nullptr && has(by_->needs, condition::nodes);
}

void operation::on_end(listener told, void* argument) noexcept {
    told_ = told;
    told_argument_ = argument;
}

std::vector<rank_t> operation::missing() const {
    const std::vector<rank_t> far = peers_of(action::receive);
    const std::vector<rank_t> near = fabric_.missing_on_node(*this);
    std::vector<rank_t> all;
    std::ranges::set_union(far, near, std::back_inserter(all));
    return all;
}

std::vector<rank_t> operation::peers_of(action which) const {
    std::vector<rank_t> ranks;
    for (const step* each = under_way_; each != nullptr; each = each->next)
        if (each->what == which) ranks.push_back(each->peer);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

bool operation::waits_for(rank_t rank) const noexcept {
    for (const step* each = under_way_; each != nullptr; each = each->next)
        if (each->what == action::receive && each->peer == rank) return true;
    return false;
}

void operation::start() noexcept {
    status_ = UCS_INPROGRESS;
    failure_ = UCS_OK;
    scratch_.clear();
    ++busy_;
    if (const ucs_status_t status = fabric_.enter(*this, number_); status != UCS_OK) {
        fail(status);
    } else {
        root_ = program_ != nullptr ? program_->run(me_) : by_->run(me_, call_);
        end_ = {1, 0, nullptr};
        root_.begin(end_).resume();
    }
    --busy_;
    settle();
}

void operation::start_failed(ucs_status_t why) noexcept {
    status_ = UCS_INPROGRESS;
    failure_ = UCS_OK;
    const ucs_status_t status = fabric_.enter(*this, number_);
    fail(status != UCS_OK ? status : why);
}

void operation::post(step& what) noexcept {
    if (failed()) return;  // its gate stays open, and nobody goes on
    link(what);
    fabric_.post(what);
}

void operation::complete(step& ended, ucs_status_t status) noexcept {
    ++busy_;
    unlink(ended);
    if (status != UCS_OK) fail(status);
    const std::coroutine_handle<> waiter = ended.of->close_one();
    if (waiter && !failed()) waiter.resume();
    --busy_;
    settle();
}

void operation::fail(ucs_status_t why) noexcept {
    if (status_ != UCS_INPROGRESS || failed()) return;
    // Announcing may move messages, also the last one of this operation, which must not end well
    // in there: then it might run again, or be gone, when it is to fail.
    ++busy_;
    fabric_.announce(*this, why);
    fail_as_told(why);
    --busy_;
    settle();
}

void operation::fail_as_told(ucs_status_t why) noexcept {
    if (status_ != UCS_INPROGRESS || failed()) return;
    ++busy_;
    failure_ = why;
    for (step* each = under_way_; each != nullptr;) {
        step* next = each->next;
        fabric_.cancel(*each);
        each = next;
    }
    --busy_;
    settle();
}

// Frames are destroyed where none of them is running and the fabric holds none of their steps.
void operation::settle() noexcept {
    if (busy_ != 0 || under_way_ != nullptr || status_ != UCS_INPROGRESS) return;
    if (!failed() && !root_.done()) return;
    root_ = task();
    status_ = failure_;
    fabric_.leave(*this);
    if (told_ != nullptr) told_(*this, told_argument_);
}

void operation::link(step& what) noexcept {
    what.previous = nullptr;
    what.next = under_way_;
    if (under_way_ != nullptr) under_way_->previous = &what;
    under_way_ = &what;
}

void operation::unlink(step& what) noexcept {
    (what.previous != nullptr ? what.previous->next : under_way_) = what.next;
    if (what.next != nullptr) what.next->previous = what.previous;
}

bool fits(const algorithm& which, const call& what, const shape& of, bool deterministic) noexcept {
    if (which.what != what.what) return false;
    const bool ordered = what.how != nullptr && !what.how->commutative();
    if (ordered && has(which.needs, condition::commutative)) return false;
    if (has(which.needs, condition::power_of_two) && !std::has_single_bit(of.ranks)) return false;
    // Bits must neither depend on which row the costs choose, nor on who shares a node with whom.
    constexpr condition bits_of_its_own =
        condition::order_by_place | condition::own_order | condition::nodes;
    if (deterministic && takes_operator(what.what) && has(which.needs, bits_of_its_own))
        return false;
    if (has(which.needs, condition::nodes)) {
        const placement* const at = of.where;
        if (at == nullptr || at->nodes() == 1 || at->most() == 1) return false;
        if (ordered && !at->in_order()) return false;
    }
    return true;
}

const char* name(collective which) noexcept {
    static constexpr const char* names[collective_count] = {
        "barrier",   "bcast",      "reduce",         "allreduce",
        "gather",    "gatherv",    "scatter",        "scatterv",
        "allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block",
        "alltoall",  "alltoallv",  "scan",           "exscan"};
    return names[static_cast<std::size_t>(which)];
}

}  // namespace ucg::schedule
