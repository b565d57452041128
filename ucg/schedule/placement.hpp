// The placement of a group: which ranks share a node.
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
    // Each rank has its own node.
    explicit placement(rank_t ranks);
    // `names` has the name of each rank's node; equal names mean the same node. Throws
    // std::bad_alloc.
    explicit placement(std::span<const std::uint64_t> names);

    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(locations_.size()); }
    [[nodiscard]] rank_t nodes() const noexcept { return static_cast<rank_t>(begins_.size() - 1); }

    [[nodiscard]] rank_t node_of(rank_t rank) const noexcept { return locations_[rank].node; }
    [[nodiscard]] rank_t index_of(rank_t rank) const noexcept { return locations_[rank].index; }
    [[nodiscard]] rank_t at(rank_t node, rank_t index) const noexcept {
        return ranks_on(node)[index];
    }

    // The ranks of a node, ascending. Never empty.
    [[nodiscard]] std::span<const rank_t> ranks_on(rank_t node) const noexcept {
        return std::span(members_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
    }
    // Minimum and maximum number of ranks on a node.
    [[nodiscard]] rank_t min_ranks_per_node() const noexcept { return min_ranks_per_node_; }
    [[nodiscard]] rank_t max_ranks_per_node() const noexcept { return max_ranks_per_node_; }
    // True if the ranks of every node are contiguous, so that the order of nodes keeps that of
    // ranks.
    [[nodiscard]] bool is_in_order() const noexcept { return is_in_order_; }

private:
    struct location {
        rank_t node, index;
    };
    std::vector<location> locations_;
    std::vector<rank_t> members_;  // node by node
    std::vector<std::size_t> begins_;
    rank_t min_ranks_per_node_ = 1;
    rank_t max_ranks_per_node_ = 1;
    bool is_in_order_ = true;
};

}  // namespace ucg::schedule
