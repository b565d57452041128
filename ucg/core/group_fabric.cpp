#include "ucg/core/group_fabric.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "ucg/node/engine/operation.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg {
namespace {

// A step that the engine runs. It owns itself until the engine has ended it.
struct job {
    job(node::engine& engine, schedule::step& owner) noexcept : work(engine), step(owner) {}

    static void on_end(node::operation& ended, void* argument) noexcept {
        const std::unique_ptr<job> self(static_cast<job*>(argument));
        schedule::step& done = self->step;
        const ucs_status_t status = ended.status();
        done.state = nullptr;
        done.owner->complete(done, status);
    }

    node::operation work;
    schedule::step& step;
};

}  // namespace

// Operations behind the first one wait for their turn, and for no rank.
std::vector<schedule::rank_t> group_fabric::missing_on_node(const schedule::operation& op) const {
    if (engine_users_.empty() || engine_users_.front() != &op) return {};
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
    } else if (engine_ == nullptr) {
        step.owner->complete(step, UCS_ERR_UNSUPPORTED);
    } else if (!engine_users_.empty() && engine_users_.front() == step.owner) {
        run(step);
    } else {
        try {
            waiting_.push_back(&step);
        } catch (const std::bad_alloc&) {
            step.owner->complete(step, UCS_ERR_NO_MEMORY);
        }
    }
}

void group_fabric::run(schedule::step& step) noexcept {
    std::unique_ptr<job> made(new (std::nothrow) job(*engine_, step));
    ucs_status_t status = made == nullptr ? UCS_ERR_NO_MEMORY : made->work.init(*step.node_call);
    if (status != UCS_OK) {
        // The other ranks wait for this one in the engine, so the group cannot continue.
        engine_->fail(status);
        step.owner->complete(step, status);
        return;
    }
    step.state = made.get();
    made->work.on_end(job::on_end, made.get());
    made.release()->work.start();
}

void group_fabric::cancel(schedule::step& step) noexcept {
    if (step.kind != schedule::action::node_collective) {
        messages_.cancel(step);
    } else if (step.state != nullptr) {
        engine_->fail(UCS_ERR_CANCELED);
    } else if (std::erase(waiting_, &step) != 0) {
        step.owner->complete(step, UCS_ERR_CANCELED);
    }
}

ucs_status_t group_fabric::begin_operation(schedule::operation& op,
                                           schedule::sequence_t& number) noexcept {
    ucs_status_t status = messages_.begin_operation(op, number);
    if (!op.uses_nodes() || engine_ == nullptr) return status;
    try {
        engine_users_.push_back(&op);
    } catch (const std::bad_alloc&) {
        status = UCS_ERR_NO_MEMORY;
    }
    return status;
}

void group_fabric::end_operation(schedule::operation& op) noexcept {
    std::erase(engine_users_, &op);
    messages_.end_operation(op);
    // Another rank of the node may have started an engine operation that this rank left out. From
    // now on, the ranks would run different operations together.
    if (op.uses_nodes() && engine_ != nullptr && op.status() != UCS_OK) engine_->fail(op.status());
    // Runs the waiting steps of the next operation, in the order in which they were posted.
    while (!engine_users_.empty()) {
        const auto next =
            std::ranges::find(waiting_, engine_users_.front(), &schedule::step::owner);
        if (next == waiting_.end()) return;
        schedule::step& first = **next;
        waiting_.erase(next);
        run(first);
    }
}

}  // namespace ucg
