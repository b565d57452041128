// The fabric of a group: messages, and the engine of the node.
#pragma once

#include <optional>
#include <vector>

#include "ucg/node/engine/engine.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/schedule/placement.hpp"

namespace ucg::node {

// Passes messages to another fabric, and collectives of a node to its engine. The engine runs its
// operations in the order in which they are started, which must be the same on all ranks of the
// node. So operations that use the engine run one after the other, in the order of their starts.
// Running a collective of the node allocates nothing. Each group has one; it does not own its
// parts. Owner context.
class group_fabric final : public schedule::fabric {
public:
    // `engine` null: no collectives of a node.
    group_fabric(schedule::fabric& messages, node::engine* engine,
                 const schedule::placement& placement);

    [[nodiscard]] schedule::rank_t rank() const noexcept override { return messages_.rank(); }
    [[nodiscard]] schedule::rank_t size() const noexcept override { return messages_.size(); }
    [[nodiscard]] const schedule::placement* node_placement() const noexcept override {
        return engine_ != nullptr ? &placement_ : nullptr;
    }
    [[nodiscard]] std::vector<schedule::rank_t> missing_on_node(
        const schedule::operation& op) const override;
    [[nodiscard]] std::vector<schedule::rank_t> stragglers(
        const schedule::operation& op) const override {
        return messages_.stragglers(op);
    }
    void post(schedule::step& step) noexcept override;
    void cancel(schedule::step& step) noexcept override;
    [[nodiscard]] ucs_status_t begin_operation(schedule::operation& op,
                                               schedule::sequence_t& number) override;
    void end_operation(schedule::operation& op) noexcept override;
    void withdraw(ucs_status_t why) noexcept override {
        if (engine_ != nullptr) engine_->fail(why);
        messages_.withdraw(why);
    }
    void report_failure(schedule::operation& op, ucs_status_t why) noexcept override {
        messages_.report_failure(op, why);
    }

private:
    [[nodiscard]] bool has_turn(const schedule::operation& op) const noexcept {
        return !engine_users_.empty() && &engine_users_.front() == &op;
    }
    void enqueue(schedule::step& step) noexcept;
    void give_turn() noexcept;
    void run_next() noexcept;
    void on_end() noexcept;

    schedule::fabric& messages_;
    node::engine* const engine_;
    const schedule::placement& placement_;
    // In order; the first one may use the engine now.
    ucs::datastruct::auto_list<schedule::operation, &schedule::operation::node_hook> engine_users_;
    schedule::step_queue ready_;           // steps of the first operation, except running_
    schedule::step_queue waiting_;         // steps of the other operations
    std::optional<node::operation> work_;  // runs one step at a time
    schedule::step* running_ = nullptr;
};

}  // namespace ucg::node
