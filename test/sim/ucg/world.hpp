// The shared state of the ranks of a run.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/sim/ucg/board.hpp"
#include "test/sim/ucg/plan.hpp"
#include "uct/sim/fabric.hpp"

namespace group_sim {

// Tracks which operations may fail, and violations. Owned by the run.
class world {
public:
    world(const plan& run, uct::sim::fabric& fabric, uct::sim::random& random)
        : run_plan(run),
          network(fabric),
          dice(random),
          disturbed_groups_(run.groups.size()),
          disturbed_operations_(run.operations.size()),
          made_(run.groups.size()),
          dead_(run.ranks),
          parted_(run.ranks) {}

    const plan& run_plan;
    uct::sim::fabric& network;
    uct::sim::random& dice;

    // The out-of-band exchange of a group.
    board& board_of(std::size_t group);

    void violation(std::string text) {
        if (violation_.empty()) violation_ = std::move(text);
    }
    [[nodiscard]] bool violated() const noexcept { return !violation_.empty(); }
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    // True if one of its links has broken: a rank that lost a link may not be notified.
    [[nodiscard]] bool is_parted(std::uint32_t rank) const { return parted_[rank]; }
    [[nodiscard]] bool is_dead(std::uint32_t rank) const { return dead_[rank]; }
    void kill(std::uint32_t rank);
    // The rank lives, but its links are cut.
    void isolate(std::uint32_t rank);
    // Cuts the link between two ranks.
    void part(std::uint32_t one, std::uint32_t other);
    // Notes that an operation was canceled, has a timeout, or cannot have all ranks.
    void disturb(std::size_t operation);
    // Notes that the creation of a group failed on some rank.
    void disturb_group(std::size_t group) { disturbed_groups_[group] = true; }

    // True if the creation of a group, and its operations, may fail.
    [[nodiscard]] bool may_fail_group(std::size_t group) const;
    [[nodiscard]] bool may_fail(std::size_t operation) const {
        const operation_plan& plan = run_plan.operations[operation];
        // A rank that waits for the creation of a group may be late for other ranks.
        const bool may_be_late = broken_ && !plan.timeouts.empty();
        return disturbed_operations_[operation] || disturbed_groups_[plan.group] || may_be_late;
    }

    // Notes that a member has this group.
    void made_group(std::size_t group) { ++made_[group]; }

    // Adds events of the ranks to a digest by which two runs are compared.
    void note(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept;
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    std::size_t operations = 0;

private:
    template<class Hurts>
    void disturb_groups(const Hurts& hurts);

    std::string violation_;
    std::map<std::size_t, std::unique_ptr<board>> boards_;
    std::vector<bool> disturbed_groups_;
    std::vector<bool> disturbed_operations_;
    std::vector<unsigned> made_;  // number of members that have the group
    std::vector<bool> dead_, parted_;
    bool broken_ = false;  // a rank died or a link broke
    std::uint64_t digest_ = 0;
};

}  // namespace group_sim
