#include "ucg/schedule/operation.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>

#include "ucg/schedule/algorithm.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::schedule {

ucs_status_t operation::init(const algorithm& algorithm, const call& args) noexcept try {
    algorithm_ = &algorithm;
    program_ = nullptr;
    call_ = args;
    me_ = member(*this, fabric_.rank(), fabric_.size());
    if (args.kind == collective::reduce_scatter) {
        offsets_.resize(me_.size());
        for (rank_t i = 1; i < me_.size(); ++i)
            offsets_[i] = offsets_[i - 1] + args.counts[i - 1];
        call_.offsets = offsets_.data();
    }
    const std::size_t asked =
        algorithm.scratch_on_nodes != nullptr
            ? algorithm.scratch_on_nodes(call_, me_.rank(), *fabric_.node_placement())
            : algorithm.scratch(call_, me_.rank(), me_.size());
    const std::size_t bytes = arena::for_pieces_of(asked);
    memory_.reset(new std::byte[bytes]);
    scratch_ = {memory_.get(), bytes};
    return UCS_OK;
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
}

void operation::init(program& program) noexcept {
    algorithm_ = nullptr;
    program_ = &program;
    me_ = member(*this, fabric_.rank(), fabric_.size());
}

bool operation::uses_nodes() const noexcept {
    return algorithm_ != nullptr && has(algorithm_->needs, condition::nodes);
}

std::vector<rank_t> operation::missing() const {
    if (status_ != UCS_INPROGRESS) return {};
    std::vector<rank_t> late = fabric_.stragglers(*this);
    return late.empty() ? awaited() : late;
}

std::vector<rank_t> operation::awaited() const {
    const std::vector<rank_t> far = peers_of(action::receive);
    const std::vector<rank_t> near = fabric_.missing_on_node(*this);
    std::vector<rank_t> all;
    std::ranges::set_union(far, near, std::back_inserter(all));
    return all;
}

std::vector<rank_t> operation::peers_of(action kind) const {
    std::vector<rank_t> ranks;
    for (const step* each = in_flight_; each != nullptr; each = each->next)
        if (each->kind == kind) ranks.push_back(each->peer);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

bool operation::is_waiting_for(rank_t rank) const noexcept {
    for (const step* each = in_flight_; each != nullptr; each = each->next)
        if (each->kind == action::receive && each->peer == rank) return true;
    return false;
}

ucs_status_t operation::begin() noexcept {
    status_ = UCS_INPROGRESS;
    failure_ = UCS_OK;
    return ucs::boundary([this] { return fabric_.begin_operation(*this, number_); },
                         [](const ucs::failure& caught) { return caught.status; });
}

void operation::start() noexcept {
    scratch_.clear();
    ++busy_;
    if (const ucs_status_t status = begin(); status != UCS_OK) {
        fail(status);
    } else {
        root_ = program_ != nullptr ? program_->run(me_) : algorithm_->run(me_, call_);
        end_ = {1, 0, nullptr};
        root_.begin(end_).resume();
    }
    --busy_;
    finish_if_done();
}

void operation::start_failed(ucs_status_t status) noexcept {
    const ucs_status_t entered = begin();
    fail(entered != UCS_OK ? entered : status);
}

void operation::post(step& step) noexcept {
    if (failed()) return;  // the counter of the step stays above 0, so its coroutine is not resumed
    link(step);
    fabric_.post(step);
}

void operation::complete(step& ended, ucs_status_t status) noexcept {
    ++busy_;
    unlink(ended);
    if (status != UCS_OK) fail(status);
    const std::coroutine_handle<> waiter = ended.counter->decrement();
    if (waiter && !failed()) waiter.resume();
    --busy_;
    finish_if_done();
}

void operation::fail(ucs_status_t status) noexcept {
    if (status_ != UCS_INPROGRESS || failed()) return;
    // report_failure() may move messages, including the last one of this operation. The operation
    // must not end successfully inside report_failure(), because its owner might then restart or
    // destroy it before it fails. So `busy_` is raised.
    ++busy_;
    fabric_.report_failure(*this, status);
    fail_as_notified(status);
    --busy_;
    finish_if_done();
}

void operation::fail_as_notified(ucs_status_t status) noexcept {
    if (status_ != UCS_INPROGRESS || failed()) return;
    ++busy_;
    failure_ = status;
    for (step* each = in_flight_; each != nullptr;) {
        step* next = each->next;
        fabric_.cancel(*each);
        each = next;
    }
    --busy_;
    finish_if_done();
}

// Ends the operation if it is complete or has failed. Frames are destroyed only when none of them
// is running and the fabric holds none of their steps.
void operation::finish_if_done() noexcept {
    if (busy_ != 0 || in_flight_ != nullptr || status_ != UCS_INPROGRESS) return;
    if (!failed() && !root_.done()) return;
    root_ = task();
    status_ = failure_;
    fabric_.end_operation(*this);
    end(failure_);
}

void operation::link(step& step) noexcept {
    step.previous = nullptr;
    step.next = in_flight_;
    if (in_flight_ != nullptr) in_flight_->previous = &step;
    in_flight_ = &step;
}

void operation::unlink(step& step) noexcept {
    (step.previous != nullptr ? step.previous->next : in_flight_) = step.next;
    if (step.next != nullptr) step.next->previous = step.previous;
}

bool can_run(const algorithm& algorithm, const call& args, const shape& params,
             bool deterministic) noexcept {
    if (algorithm.kind != args.kind) return false;
    if (has(algorithm.needs, condition::engine)) return params.engine && !deterministic;
    const bool ordered = args.op != nullptr && !args.op->is_commutative();
    if (ordered && has(algorithm.needs, condition::commutative)) return false;
    if (has(algorithm.needs, condition::power_of_two) && !std::has_single_bit(params.ranks))
        return false;
    // The bits of a deterministic result must depend neither on the costs nor on the placement of
    // ranks on nodes.
    constexpr condition bits_of_its_own =
        condition::order_by_place | condition::own_order | condition::nodes;
    if (deterministic && traits_of(args.kind).reduces && has(algorithm.needs, bits_of_its_own))
        return false;
    if (has(algorithm.needs, condition::nodes)) {
        const placement* const placement = params.node_placement;
        if (placement == nullptr || placement->nodes() == 1 || placement->max_ranks_per_node() == 1)
            return false;
        if (ordered && !placement->is_in_order()) return false;
    }
    return true;
}

const char* name(collective collective) noexcept {
    static constexpr const char* names[collective_count] = {
        "barrier",   "bcast",      "reduce",         "allreduce",
        "gather",    "gatherv",    "scatter",        "scatterv",
        "allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block",
        "alltoall",  "alltoallv",  "scan",           "exscan"};
    return names[static_cast<std::size_t>(collective)];
}

}  // namespace ucg::schedule
