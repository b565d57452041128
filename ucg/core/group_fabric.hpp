// What the schedules of a group run over: messages, and the engine of the node.
#pragma once

#include <vector>

#include "ucg/node/engine.hpp"
#include "ucg/schedule/fabric.hpp"
#include "ucg/schedule/placement.hpp"

namespace ucg {

// Messages go to another fabric. What an operation does together with the ranks of its node goes to
// the engine, which does one thing after the other in the order in which it is told, on all of them
// the same: so operations that use it do so one after the other, in the order of their starts. One
// per group; what it is made of is borrowed. Owner context.
class group_fabric final : public schedule::fabric {
public:
    // `engine` null: no collectives of nodes.
    group_fabric(schedule::fabric& messages, node::engine* engine,
                 const schedule::placement& where) noexcept
        : messages_(messages), engine_(engine), where_(where) {}

    [[nodiscard]] schedule::rank_t rank() const noexcept override { return messages_.rank(); }
    [[nodiscard]] schedule::rank_t size() const noexcept override { return messages_.size(); }
    [[nodiscard]] const schedule::placement* where() const noexcept override {
        return engine_ != nullptr ? &where_ : nullptr;
    }
    [[nodiscard]] std::vector<schedule::rank_t> missing_on_node(
        const schedule::operation& what) const override;
    void post(schedule::step& what) noexcept override;
    void cancel(schedule::step& what) noexcept override;
    [[nodiscard]] ucs_status_t enter(schedule::operation& what,
                                     schedule::sequence_t& number) noexcept override;
    void leave(schedule::operation& what) noexcept override;
    void announce(schedule::operation& what, ucs_status_t why) noexcept override {
        messages_.announce(what, why);
    }

private:
    void run(schedule::step& what) noexcept;

    schedule::fabric& messages_;
    node::engine* const engine_;
    const schedule::placement& where_;
    std::vector<schedule::operation*> turns_;  // those that use the engine; the first one may
    std::vector<schedule::step*> waiting_;     // for the turn of their operation
};

}  // namespace ucg
