// The team of an exchange: the experts of each rank, masked ranks, and relays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/form_hash.hpp"
#include "ucg/schedule/placement.hpp"
#include "ucs/type/result.hpp"

namespace ucg::moe {

using schedule::rank_t;
using expert_t = std::int32_t;

inline constexpr rank_t no_rank = ~rank_t{0};

// Each rank has the same number of experts, numbered in the order of ranks. A masked rank has no
// tokens, and choices of its experts are ignored. Masking does not change the numbers of ranks and
// nodes. Immutable; any thread.
//
// A token for several ranks of another node can be sent once, to the sender's relay on that node.
// The relay is the living rank whose index equals the sender's index among the living ranks of its
// own node, modulo the number of living ranks of the other node. On its own node a rank is its own
// relay.
class team {
public:
    // `masked` has one entry for each rank, which is not 0 for a masked rank; or it is empty.
    // `masked` and `experts` must be the same on every living rank. UCS_ERR_INVALID_PARAM:
    // `experts` is not a multiple of the number of ranks, or this rank is masked.
    // UCS_ERR_EXCEEDS_LIMIT: more than max_streams ranks have one rank of this node as their relay.
    [[nodiscard]] static ucs::result<team> make(const schedule::placement& placement, rank_t self,
                                                std::uint32_t experts,
                                                std::span<const std::uint8_t> masked = {});

    [[nodiscard]] rank_t self() const noexcept { return self_; }
    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(locations_.size()); }
    [[nodiscard]] rank_t nodes() const noexcept { return static_cast<rank_t>(begins_.size() - 1); }
    [[nodiscard]] rank_t node_of(rank_t rank) const noexcept { return locations_[rank].node; }
    [[nodiscard]] rank_t node() const noexcept { return node_of(self_); }
    [[nodiscard]] bool is_alive(rank_t rank) const noexcept {
        return locations_[rank].index != no_rank;
    }

    // The living ranks of a node, ascending. Empty if all of them are masked.
    [[nodiscard]] std::span<const rank_t> ranks_on(rank_t node) const noexcept {
        return std::span(members_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
    }
    // The lowest rank of a node, masked or not.
    [[nodiscard]] rank_t first_rank_on(rank_t node) const noexcept { return first_ranks_[node]; }

    // The index of a living rank among the living ranks of its node.
    [[nodiscard]] rank_t index_of(rank_t rank) const noexcept { return locations_[rank].index; }
    // Returns no_rank if no rank of the node lives.
    [[nodiscard]] rank_t relay(rank_t source, rank_t node) const noexcept;
    // The living ranks that use this rank as their relay, ascending. Includes this rank.
    [[nodiscard]] std::span<const rank_t> sources() const noexcept { return sources_; }
    // The channel for messages between two ranks of this node that carry tokens of `source`: the
    // index of `source` among the sources of its relay on this node.
    [[nodiscard]] std::uint16_t channel_of(rank_t source) const noexcept {
        return locations_[source].channel;
    }

    [[nodiscard]] std::uint32_t experts() const noexcept { return experts_; }
    [[nodiscard]] std::uint32_t local_experts() const noexcept { return local_experts_; }
    [[nodiscard]] rank_t rank_of(expert_t expert) const noexcept {
        return static_cast<rank_t>(static_cast<std::uint32_t>(expert) / local_experts_);
    }
    // The number of an expert on its own rank.
    [[nodiscard]] expert_t local(expert_t expert) const noexcept {
        return static_cast<expert_t>(static_cast<std::uint32_t>(expert) % local_experts_);
    }
    // Hash of everything that ranks must agree on.
    [[nodiscard]] const form_hash& agreed() const noexcept { return agreed_; }

    static constexpr std::size_t max_streams =
        4096;  // limited by the number of channels of a fabric

private:
    team() = default;
    void place_ranks(const schedule::placement& placement, std::span<const std::uint8_t> masked);
    [[nodiscard]] bool find_sources();
    void mix_agreed() noexcept;

    struct location {
        rank_t node = 0;
        rank_t index = no_rank;
        std::uint16_t channel = 0;
    };
    rank_t self_ = 0;
    std::uint32_t experts_ = 0;
    std::uint32_t local_experts_ = 0;
    std::vector<location> locations_;
    std::vector<rank_t> members_;  // the living ranks, node by node
    std::vector<std::size_t> begins_;
    std::vector<rank_t> first_ranks_;
    std::vector<rank_t> sources_;
    form_hash agreed_;
};

}  // namespace ucg::moe
