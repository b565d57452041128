#include "ucg/moe/team.hpp"

#include "ucg/schedule/log.hpp"

namespace ucg::moe {

ucs::result<team> team::make(const schedule::placement& placement, rank_t self,
                             std::uint32_t experts, std::span<const std::uint8_t> masked) {
    const rank_t ranks = placement.ranks();
    if (experts == 0 || experts % ranks != 0 || experts > INT32_MAX) {
        ucs::log::error(
            moe_log,
            "{} experts cannot be distributed to {} ranks: choose a multiple of the number of "
            "ranks",
            experts, ranks);
        return UCS_ERR_INVALID_PARAM;
    }
    if ((!masked.empty() && masked.size() != ranks) || self >= ranks ||
        (!masked.empty() && masked[self] != 0)) {
        ucs::log::error(
            moe_log,
            "rank {} of {} is masked or has a mask of {} ranks: give one entry for each "
            "rank and mask others only",
            self, ranks, masked.size());
        return UCS_ERR_INVALID_PARAM;
    }
    team made;
    made.self_ = self;
    made.experts_ = experts;
    made.local_experts_ = experts / ranks;
    made.place_ranks(placement, masked);
    if (!made.find_sources()) {
        ucs::log::error(moe_log,
                        "more than {} ranks have one rank of this node as their relay: place more "
                        "ranks on each node",
                        max_streams);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    made.mix_agreed();
    return made;
}

void team::place_ranks(const schedule::placement& placement, std::span<const std::uint8_t> masked) {
    locations_.resize(placement.ranks());
    begins_.push_back(0);
    for (rank_t node = 0; node < placement.nodes(); ++node) {
        first_ranks_.push_back(placement.at(node, 0));
        for (const rank_t rank : placement.ranks_on(node)) {
            locations_[rank].node = node;
            if (!masked.empty() && masked[rank] != 0) continue;
            locations_[rank].index = static_cast<rank_t>(members_.size() - begins_.back());
            members_.push_back(rank);
        }
        begins_.push_back(members_.size());
    }
}

rank_t team::relay(rank_t source, rank_t node) const noexcept {
    if (node == node_of(source)) return source;
    const std::span<const rank_t> candidates = ranks_on(node);
    return candidates.empty() ? no_rank : candidates[index_of(source) % candidates.size()];
}

bool team::find_sources() {
    std::vector<std::uint32_t> channels(ranks_on(node()).size());
    for (rank_t source = 0; source < ranks(); ++source) {
        if (!is_alive(source)) continue;
        const rank_t relay_rank = relay(source, node());
        const std::uint32_t channel = channels[index_of(relay_rank)]++;
        if (channel >= max_streams) return false;
        locations_[source].channel = static_cast<std::uint16_t>(channel);
        if (relay_rank == self_) sources_.push_back(source);
    }
    return true;
}

void team::mix_agreed() noexcept {
    form_hash made = form_hash().with(experts_, ranks());
    for (rank_t rank = 0; rank < ranks(); ++rank)
        made = made.with((std::uint64_t{node_of(rank)} << 1U) | (is_alive(rank) ? 1U : 0U));
    agreed_ = made;
}

}  // namespace ucg::moe
