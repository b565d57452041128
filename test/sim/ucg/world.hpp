// What the ranks of a run share, and what is known of all of them.
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

// Which operations may fail, and what went wrong. Owned by the run.
class world {
public:
    world(const plan& which, uct::sim::fabric& over, uct::sim::random& by)
        : what(which),
          network(over),
          dice(by),
          disturbed_groups_(which.groups.size()),
          disturbed_operations_(which.operations.size()),
          made_(which.groups.size()),
          dead_(which.ranks),
          parted_(which.ranks) {}

    const plan& what;
    uct::sim::fabric& network;
    uct::sim::random& dice;

    // The exchange that a group is made over.
    board& board_of(std::size_t group);

    void violation(std::string text) {
        if (violation_.empty()) violation_ = std::move(text);
    }
    [[nodiscard]] bool violated() const noexcept { return !violation_.empty(); }
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    // Whether one of its links has broken: who has lost the other end may not hear of it.
    [[nodiscard]] bool is_parted(std::uint32_t rank) const { return parted_[rank]; }
    [[nodiscard]] bool is_dead(std::uint32_t rank) const { return dead_[rank]; }
    void kill(std::uint32_t rank);
    // It lives, and reaches nobody any more.
    void isolate(std::uint32_t rank);
    // Nothing may get through between them any more.
    void part(std::uint32_t one, std::uint32_t other);
    // An operation was canceled, its time is limited, or a rank cannot take part.
    void disturb(std::size_t operation);
    // Making a group failed somewhere, and may.
    void disturb_group(std::size_t group) { disturbed_groups_[group] = true; }

    // Whether the making of a group may fail, and operations of it.
    [[nodiscard]] bool may_fail_group(std::size_t group) const;
    [[nodiscard]] bool may_fail(std::size_t operation) const {
        const operation_plan& of = what.operations[operation];
        // Who waits for a group that is not made in time is late for others.
        const bool may_be_late = broken_ && !of.timeouts.empty();
        return disturbed_operations_[operation] || disturbed_groups_[of.group] || may_be_late;
    }

    // A member has this group.
    void made_group(std::size_t group) { ++made_[group]; }

    // What the ranks saw, in a number: two runs are compared by it.
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
    std::vector<unsigned> made_;  // members that have a group
    std::vector<bool> dead_, parted_;
    bool broken_ = false;  // something has died or parted
    std::uint64_t digest_ = 0;
};

}  // namespace group_sim
