// The division of a node's ranks by the NUMA node that they run on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/node/memory/layout.hpp"

namespace ucg::node {

// The ranks on one NUMA node are a domain; "node" alone means the machine. If there are several
// domains, collectives of long vectors have one more level: data that all ranks of a domain need
// crosses between domains once for all of them. Immutable; its spans are valid for as long as the
// object. Any thread.
class numa_domains {
public:
    // Number of a rank that may run on several NUMA nodes.
    static constexpr std::uint32_t unknown = ~std::uint32_t{0};

    // All ranks in one domain.
    numa_domains(rank_t ranks, rank_t me);
    // `domain_numbers`: one for each rank, equal for ranks of the same domain; all ranks must pass
    // the same. There is one domain if the level is not worthwhile: a rank's number is unknown, a
    // domain has one rank, or a domain has less than half as many ranks as another.
    numa_domains(std::span<const std::uint32_t> domain_numbers, rank_t me);

    [[nodiscard]] rank_t me() const noexcept { return me_; }
    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(places_.size()); }

    // Domains are in the order of their first ranks.
    [[nodiscard]] rank_t count() const noexcept { return static_cast<rank_t>(members_.size()); }
    [[nodiscard]] bool has_several() const noexcept { return count() > 1; }
    [[nodiscard]] rank_t own() const noexcept { return domain_of(me_); }
    [[nodiscard]] rank_t domain_of(rank_t rank) const noexcept { return places_[rank].domain; }
    // Returns whether the domains hold the ranks in order. Then a reduction domain by domain is in
    // rank order.
    [[nodiscard]] bool is_in_order() const noexcept { return in_order_; }

    // The ranks of a domain, in rank order.
    [[nodiscard]] std::span<const rank_t> ranks_in(rank_t domain) const noexcept {
        return members_[domain];
    }
    // The index of a rank in its domain.
    [[nodiscard]] rank_t index(rank_t rank) const noexcept { return places_[rank].index; }
    // The number of ranks of the smallest domain.
    [[nodiscard]] rank_t smallest() const noexcept { return smallest_; }
    // Returns the rank that works for `rank` in a domain, such that each rank of the domain works
    // for about as many. In the rank's own domain that is the rank itself.
    [[nodiscard]] rank_t helper(rank_t domain, rank_t rank) const noexcept {
        return members_[domain][index(rank) % members_[domain].size()];
    }

    // peers() are all ranks except this one, own_peers() those of the own domain. Both begin with
    // the next rank and wrap around, so that not all ranks begin with the same one.
    [[nodiscard]] std::span<const rank_t> peers() const noexcept { return peers_; }
    [[nodiscard]] std::span<const rank_t> own_peers() const noexcept { return own_peers_; }

private:
    struct place {
        rank_t domain = 0, index = 0;
    };
    void fill();

    rank_t me_;
    rank_t smallest_ = 0;
    bool in_order_ = true;
    std::vector<place> places_;
    std::vector<std::vector<rank_t>> members_;
    std::vector<rank_t> peers_, own_peers_;
};

}  // namespace ucg::node
