// Which ranks of a group share a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// Nodes are numbered by their lowest ranks, and the ranks of a node by their order in the group:
// rank = at(node_of(rank), index_of(rank)). The same on every rank. Immutable; any thread.
class placement {
public:
    // Each rank alone.
    explicit placement(rank_t ranks);
    // `names`: of each rank's node; equal ones are the same node. std::bad_alloc.
    explicit placement(std::span<const std::uint64_t> names);

    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(of_.size()); }
    [[nodiscard]] rank_t nodes() const noexcept { return static_cast<rank_t>(begins_.size() - 1); }

    [[nodiscard]] rank_t node_of(rank_t rank) const noexcept { return of_[rank].node; }
    [[nodiscard]] rank_t index_of(rank_t rank) const noexcept { return of_[rank].index; }
    [[nodiscard]] rank_t at(rank_t node, rank_t index) const noexcept { return on(node)[index]; }

    // The ranks of a node, ascending; never none.
    [[nodiscard]] std::span<const rank_t> on(rank_t node) const noexcept {
        return std::span(members_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
    }
    // How many ranks the emptiest and the fullest node have.
    [[nodiscard]] rank_t fewest() const noexcept { return fewest_; }
    [[nodiscard]] rank_t most() const noexcept { return most_; }
    // Whether the ranks of every node are neighbours, so that nodes keep the order of ranks.
    [[nodiscard]] bool in_order() const noexcept { return in_order_; }

private:
    struct place {
        rank_t node, index;
    };
    std::vector<place> of_;
    std::vector<rank_t> members_;  // node by node
    std::vector<std::size_t> begins_;
    rank_t fewest_ = 1;
    rank_t most_ = 1;
    bool in_order_ = true;
};

}  // namespace ucg::schedule
