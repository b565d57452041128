// State of a run that all its simulated ranks share.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>

#include "test/sim/ucg/plan.hpp"
#include "test/support/oob_board.hpp"
#include "uct/sim/fabric.hpp"

namespace group_sim {

// Tracks the failures of a run, the groups and operations that may fail because of them, and the
// first violation of a property that ranks check. Owned by the run.
class world {
public:
    world(const plan& run, uct::sim::fabric& fabric, ucs::sys::random& random)
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
    ucs::sys::random& dice;

    // The out-of-band exchange of a group.
    test::board& board_of(std::size_t group);

    void violation(std::string text) {
        if (violation_.empty()) violation_ = std::move(text);
    }
    [[nodiscard]] bool violated() const noexcept { return !violation_.empty(); }
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    // True if part() has cut a link of this rank. Such a rank may not learn that a peer has closed,
    // so endpoints may remain on it.
    [[nodiscard]] bool is_parted(std::uint32_t rank) const { return parted_[rank]; }
    [[nodiscard]] bool is_dead(std::uint32_t rank) const { return dead_[rank]; }
    // Notes that the rank has died.
    void kill(std::uint32_t rank);
    // Notes that all links of the rank are cut. The rank lives.
    void isolate(std::uint32_t rank);
    // Notes that a link between two ranks is cut.
    void part(std::uint32_t one, std::uint32_t other);
    // Notes that a rank cancels the operation, may time out in it, or cannot take part in it.
    void disturb(std::size_t operation);
    // Notes that the creation of a group failed on some rank.
    void disturb_group(std::size_t group) { disturbed_groups_[group] = true; }

    // True if the creation of the group may fail.
    [[nodiscard]] bool may_fail_group(std::size_t group) const;
    // True if the operation may fail.
    [[nodiscard]] bool may_fail(std::size_t operation) const {
        const operation_plan& plan = run_plan.operations[operation];
        // After a failure, a rank that waits for the creation of a group may start an operation so
        // late that it times out on other ranks.
        const bool may_be_late = broken_ && !plan.timeouts.empty();
        return disturbed_operations_[operation] || disturbed_groups_[plan.group] || may_be_late;
    }

    // Notes that one more member has finished the creation of the group.
    void made_group(std::size_t group) { ++made_[group]; }

    // Adds an event of a rank to the digest. Two runs of the same plan must have the same digest.
    void note(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept;
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    std::size_t operations = 0;

private:
    template<class Hurts>
    void disturb_groups(const Hurts& hurts);

    std::string violation_;
    std::map<std::size_t, std::unique_ptr<test::board>> boards_;
    std::vector<bool> disturbed_groups_;
    std::vector<bool> disturbed_operations_;
    std::vector<unsigned> made_;  // number of members that have the group
    std::vector<bool> dead_, parted_;
    bool broken_ = false;  // a rank died or a link broke
    std::uint64_t digest_ = 0;
};

}  // namespace group_sim
