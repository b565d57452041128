// Collectives with a level for the domains of a node: of long vectors, what all ranks of a domain
// need crosses between domains once, and not for each of them.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/dealing.hpp"
#include "ucg/node/part.hpp"

namespace ucg::node {

// Whether there are several domains, the vector is long enough, and its operator may be applied
// domain after domain, with results between that are stored as elements.
[[nodiscard]] bool pays_by_domain(const call& what, const domains& who, const geometry& like,
                                  const tuning& by) noexcept;

// Allreduce and reduce. The first ranks of each domain, as many as the smallest has, own a share of
// the segment each. An owner reduces what its domain gave (first work); then the owners of the same
// share reduce what they have, where somebody of their domain wants the result (second work).
// Partial results lie in the lower half of a slot, where their inputs did, and results in the upper
// half. An element is rounded once per level; all domains get the same bits.
class reduce_by_domain final : public pattern {
public:
    reduce_by_domain(const call& what, const domains& who, const geometry& like, const tuning& by);
    [[nodiscard]] const char* way() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const places& at) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    [[nodiscard]] bool owns() const noexcept { return who_.index(me_) < who_.fewest(); }
    [[nodiscard]] bool wants_result() const noexcept {
        return what_.what == schedule::collective::allreduce || me_ == what_.root;
    }
    [[nodiscard]] bool joins() const noexcept;
    [[nodiscard]] std::size_t begin(std::uint64_t segment) const noexcept {
        return cut_.begin(segment) * what_.element;
    }
    [[nodiscard]] part share(std::uint64_t segment, rank_t of) const noexcept {
        return part::of(cut_.size(segment), what_.element, of, who_.fewest());
    }
    void reduce_domain(std::uint64_t segment, const places& at) noexcept;
    void reduce_shares(std::uint64_t segment, const places& at) noexcept;

    const std::size_t upper_;  // where the upper half of a slot begins
    const algo::cut cut_;
    const std::size_t step_;              // bytes reduced at a time
    std::vector<rank_t> peers_, owners_;  // of the same share; of the own domain; without this rank
    std::vector<const void*> sources_;
};

// The ranks of a domain fetch a part of the root's segment each, and copy them together.
class broadcast_by_domain final : public pattern {
public:
    broadcast_by_domain(const call& what, const domains& who, const geometry& like,
                        const tuning& by);
    [[nodiscard]] const char* way() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const places& at) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    [[nodiscard]] bool near_root() const noexcept { return who_.of(what_.root) == who_.mine(); }
    // What a rank of the own domain fetches.
    [[nodiscard]] part share(std::uint64_t segment, rank_t of) const noexcept {
        return part::of(cut_.size(segment), what_.element, who_.index(of),
                        static_cast<rank_t>(who_.in(who_.mine()).size()));
    }

    const algo::cut cut_;
};

// Allgather and allgatherv. What other domains give is fetched by helpers, each that of some ranks;
// their pieces lie behind the own one in the slot.
class collect_by_domain final : public pattern {
public:
    collect_by_domain(const call& what, const domains& who, const geometry& like, const tuning& by);
    [[nodiscard]] const char* way() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const places& at) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    [[nodiscard]] std::size_t bytes(rank_t of, std::uint64_t segment) const noexcept {
        return blocks_[of].size(segment) * what_.element;
    }
    [[nodiscard]] std::byte* piece(rank_t of, std::uint64_t segment) const noexcept {
        return output() + (blocks_[of].place() + blocks_[of].begin(segment)) * what_.element;
    }

    std::vector<portion> blocks_;
    std::vector<rank_t> fetched_;       // by this rank
    std::vector<std::size_t> offsets_;  // by rank: of its piece in the slot of its helper here
};

// Reduce_scatter and reduce_scatter_block. A helper reduces what its domain gave to a rank, and
// that reduces what its helpers have.
class reduce_and_deal_by_domain final : public reduce_and_deal {
public:
    reduce_and_deal_by_domain(const call& what, const domains& who, const geometry& like,
                              const tuning& by);
    [[nodiscard]] const char* way() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const places& at) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const places& at) noexcept override;
    void take(std::uint64_t segment, const places& at) noexcept override;

private:
    std::vector<rank_t> helped_;   // whom this rank helps, itself included
    std::vector<rank_t> helpers_;  // its own in other domains
};

}  // namespace ucg::node
