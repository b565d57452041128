#include "ucg/node/engine/group_fabric.hpp"

#include <algorithm>
#include <utility>

#include "ucg/node/engine/operation.hpp"

namespace ucg::node {

group_fabric::group_fabric(schedule::fabric& messages, node::engine* engine,
                           const schedule::placement& placement)
    : messages_(messages), engine_(engine), placement_(placement) {
    if (engine_ == nullptr || placement.nodes() == 1) return;
    work_.emplace(*engine_);
    work_->on_end(
        [](schedule::runnable&, void* self) { static_cast<group_fabric*>(self)->on_end(); }, this);
}

// Operations behind the first one wait for their turn, and for no rank.
std::vector<schedule::rank_t> group_fabric::missing_on_node(const schedule::operation& op) const {
    if (!has_turn(op)) return {};
    const auto node_ranks = placement_.ranks_on(placement_.node_of(rank()));
    std::vector<schedule::rank_t> ranks = engine_->missing();
    std::ranges::transform(ranks, ranks.begin(),
                           [&](node::rank_t each) { return node_ranks[each]; });
    std::ranges::sort(ranks);
    return ranks;
}

void group_fabric::post(schedule::step& step) noexcept {
    if (step.kind != schedule::action::node_collective) {
        messages_.post(step);
    } else if (!work_) {
        step.owner->complete(step, UCS_ERR_UNSUPPORTED);
    } else {
        enqueue(step);
        run_next();
    }
}

void group_fabric::enqueue(schedule::step& step) noexcept {
    (has_turn(*step.owner) ? ready_ : waiting_).append(step);
}

// The first operation has changed: makes its steps ready.
void group_fabric::give_turn() noexcept {
    schedule::step_queue all = std::exchange(waiting_, {});
    while (schedule::step* const first = all.first) {
        all.remove(*first);
        enqueue(*first);
    }
}

// Runs the first step of the operation whose turn it is.
void group_fabric::run_next() noexcept {
    schedule::step* const next = ready_.first;
    if (running_ != nullptr || next == nullptr) return;
    ready_.remove(*next);
    if (const ucs_status_t status = work_->init(*next->node_call); status != UCS_OK) {
        // The other ranks wait for this one in the engine, so the group cannot continue.
        engine_->fail(status);
        next->owner->complete(*next, status);
        return;
    }
    running_ = next;
    work_->start();
}

// The end of a step may post the next one, which comes after those that wait.
void group_fabric::on_end() noexcept {
    schedule::step& ended = *std::exchange(running_, nullptr);
    const ucs_status_t status = work_->status();
    run_next();
    ended.owner->complete(ended, status);
}

void group_fabric::cancel(schedule::step& step) noexcept {
    if (step.kind != schedule::action::node_collective) {
        messages_.cancel(step);
    } else if (&step == running_) {
        engine_->fail(UCS_ERR_CANCELED);
    } else if ((has_turn(*step.owner) ? ready_ : waiting_).remove(step)) {
        step.owner->complete(step, UCS_ERR_CANCELED);
    }
}

ucs_status_t group_fabric::begin_operation(schedule::operation& op, schedule::sequence_t& number) {
    if (op.uses_nodes() && work_) engine_users_.push_back(op);
    return messages_.begin_operation(op, number);
}

void group_fabric::end_operation(schedule::operation& op) noexcept {
    const bool used_engine = op.node_hook.is_linked();
    const bool had_turn = has_turn(op);
    op.node_hook.unlink();
    if (had_turn) give_turn();
    messages_.end_operation(op);
    // Another rank of the node may have started an engine operation that this rank left out. From
    // now on, the ranks would run different operations together.
    if (used_engine && op.status() != UCS_OK) engine_->fail(op.status());
    run_next();
}

}  // namespace ucg::node
