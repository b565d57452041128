// Who takes part: which rank has which experts, who lives, and who passes on what for whom.
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

inline constexpr rank_t nobody = ~rank_t{0};

// What one rank knows of its group. Experts are dealt to ranks in equal parts, in order; a masked
// rank is as if its experts were never chosen and it had no tokens. Ranks and nodes keep their
// numbers whoever is masked. Immutable; any thread.
//
// What goes to several ranks of another node can go to one of them, the relay of the sender on that
// node, once: the living rank with the sender's index among the living of its own node, modulo the
// number of living ranks there. A rank is its own relay on its own node.
class team {
public:
    // `masked`: one entry for each rank, not 0 where it is masked, or none at all. Must be the same
    // on every living rank, as must `experts`. UCS_ERR_INVALID_PARAM: experts are not divisible by
    // ranks, this rank is masked. UCS_ERR_EXCEEDS_LIMIT: more than max_streams ranks have one rank
    // of this node as their relay.
    [[nodiscard]] static ucs::result<team> make(const schedule::placement& where, rank_t self,
                                                std::uint32_t experts,
                                                std::span<const std::uint8_t> masked = {});

    [[nodiscard]] rank_t self() const noexcept { return self_; }
    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(seats_.size()); }
    [[nodiscard]] rank_t nodes() const noexcept { return static_cast<rank_t>(begins_.size() - 1); }
    [[nodiscard]] rank_t node_of(rank_t rank) const noexcept { return seats_[rank].node; }
    [[nodiscard]] rank_t node() const noexcept { return node_of(self_); }
    [[nodiscard]] bool lives(rank_t rank) const noexcept { return seats_[rank].index != nobody; }

    // The living ranks of a node, ascending; none, where all are masked.
    [[nodiscard]] std::span<const rank_t> on(rank_t node) const noexcept {
        return std::span(members_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
    }
    // The lowest rank of a node, masked or not.
    [[nodiscard]] rank_t first_of(rank_t node) const noexcept { return firsts_[node]; }

    // Where a living rank stands among those of its node.
    [[nodiscard]] rank_t index_of(rank_t rank) const noexcept { return seats_[rank].index; }
    // nobody: where no rank of the node lives.
    [[nodiscard]] rank_t relay(rank_t source, rank_t node) const noexcept;
    // The living ranks that have this one as their relay on its node, ascending; itself is one.
    [[nodiscard]] std::span<const rank_t> sources() const noexcept { return sources_; }
    // For messages between two ranks of this node: the place of `source` among the sources of its
    // relay here.
    [[nodiscard]] std::uint16_t channel_of(rank_t source) const noexcept {
        return seats_[source].channel;
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
    // Of everything that ranks must agree on.
    [[nodiscard]] const form_hash& agreed() const noexcept { return agreed_; }

    static constexpr std::size_t max_streams = 4096;  // what a fabric has channels for

private:
    team() = default;
    void seat(const schedule::placement& where, std::span<const std::uint8_t> masked);
    [[nodiscard]] bool find_sources();
    void mix_agreed() noexcept;

    struct place {
        rank_t node = 0;
        rank_t index = nobody;
        std::uint16_t channel = 0;
    };
    rank_t self_ = 0;
    std::uint32_t experts_ = 0;
    std::uint32_t local_experts_ = 0;
    std::vector<place> seats_;
    std::vector<rank_t> members_;  // the living, node by node
    std::vector<std::size_t> begins_;
    std::vector<rank_t> firsts_;
    std::vector<rank_t> sources_;
    form_hash agreed_;
};

}  // namespace ucg::moe
