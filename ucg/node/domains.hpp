// The NUMA nodes that the ranks of one node run on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/node/layout.hpp"

namespace ucg::node {

// The ranks of one NUMA node are a domain: a node is a machine here. Where there are several,
// collectives of long vectors have a level more: what all ranks of a domain need crosses between
// domains once for all of them.
// Immutable; whoever keeps one of its spans keeps it. Any thread.
class domains {
public:
    // Of a rank that may run on several.
    static constexpr std::uint32_t unknown = ~std::uint32_t{0};

    // One domain.
    domains(rank_t ranks, rank_t me);
    // `of_ranks`: a number for each, equal for those of a domain; the same on all ranks. One domain
    // where the level would not pay: a rank's number is unknown, a domain has one rank, or less
    // than half as many as another.
    domains(std::span<const std::uint32_t> of_ranks, rank_t me);

    [[nodiscard]] rank_t me() const noexcept { return me_; }
    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(places_.size()); }

    // In the order of their first ranks.
    [[nodiscard]] rank_t count() const noexcept { return static_cast<rank_t>(members_.size()); }
    [[nodiscard]] bool several() const noexcept { return count() > 1; }
    [[nodiscard]] rank_t mine() const noexcept { return of(me_); }
    [[nodiscard]] rank_t of(rank_t rank) const noexcept { return places_[rank].domain; }
    // Whether they hold the ranks in order: what is reduced by domains is reduced in rank order.
    [[nodiscard]] bool in_order() const noexcept { return in_order_; }

    // In rank order.
    [[nodiscard]] std::span<const rank_t> in(rank_t domain) const noexcept {
        return members_[domain];
    }
    // A rank's place in its domain.
    [[nodiscard]] rank_t index(rank_t rank) const noexcept { return places_[rank].index; }
    // Of the smallest domain.
    [[nodiscard]] rank_t fewest() const noexcept { return fewest_; }
    // Who works for a rank in a domain, such that each there works for about as many: in the
    // rank's own one that is the rank itself.
    [[nodiscard]] rank_t helper(rank_t domain, rank_t rank) const noexcept {
        return members_[domain][index(rank) % members_[domain].size()];
    }

    // All, or those of the own domain, but this rank; from the next one on, round about, so that
    // not all begin with the same one.
    [[nodiscard]] std::span<const rank_t> others() const noexcept { return others_; }
    [[nodiscard]] std::span<const rank_t> near() const noexcept { return near_; }

private:
    struct place {
        rank_t domain = 0, index = 0;
    };
    void fill();

    rank_t me_;
    rank_t fewest_ = 0;
    bool in_order_ = true;
    std::vector<place> places_;
    std::vector<std::vector<rank_t>> members_;
    std::vector<rank_t> others_, near_;
};

}  // namespace ucg::node
