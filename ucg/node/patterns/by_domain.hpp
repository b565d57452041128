// Collectives with a level for the NUMA domains of a node: of a long vector, data that all ranks of
// a domain need crosses between domains once, and not once per rank.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/patterns/chunked_block.hpp"
#include "ucg/node/patterns/partitioned.hpp"

namespace ucg::node {

// Returns whether there are several domains, the vector is long enough, and its operator may be
// applied domain by domain, with intermediate results that are stored as elements.
[[nodiscard]] bool is_worthwhile_by_domain(const call& args, const numa_domains& domains,
                                           const geometry& layout, const tuning& params) noexcept;

// Allreduce and reduce. The first ranks of each domain, as many as the smallest domain has, own one
// share of the segment each. In the first work stage, an owner reduces the data of its domain. In
// the second, the owners of the same share reduce the results of the domains, if a rank of their
// domain wants the result.
// Partial results lie in the lower half of a slot, where the input was, and results in the upper
// half. An element is rounded once per level; all domains get the same bits.
class reduce_by_domain final : public pattern {
public:
    reduce_by_domain(const call& args, const numa_domains& domains, const geometry& layout,
                     const tuning& params, std::pmr::memory_resource* memory);
    [[nodiscard]] const char* description() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

private:
    [[nodiscard]] bool is_owner() const noexcept {
        return domains_.index(me_) < domains_.smallest();
    }
    [[nodiscard]] bool wants_result() const noexcept {
        return args_.kind == schedule::collective::allreduce || me_ == args_.root;
    }
    [[nodiscard]] bool is_final_owner() const noexcept;
    [[nodiscard]] std::size_t begin(std::uint64_t segment) const noexcept {
        return cut_.begin(segment) * args_.element;
    }
    [[nodiscard]] part share(std::uint64_t segment, rank_t rank) const noexcept {
        return part::of(cut_.size(segment), args_.element, rank, domains_.smallest());
    }
    void reduce_domain(std::uint64_t segment, const segment_buffers& buffers) noexcept;
    void reduce_shares(std::uint64_t segment, const segment_buffers& buffers) noexcept;

    const std::size_t upper_;  // where the upper half of a slot begins
    const algo::cut cut_;
    const std::size_t step_;  // bytes reduced at a time
    std::pmr::vector<rank_t> peers_,
        owners_;  // owners of the same share; owners in the own domain; both without this rank
    std::pmr::vector<const void*> sources_;
};

// Each rank of a domain fetches a part of the root's segment, and the ranks copy the parts
// together.
class broadcast_by_domain final : public pattern {
public:
    broadcast_by_domain(const call& args, const numa_domains& domains, const geometry& layout,
                        const tuning& params);
    [[nodiscard]] const char* description() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

private:
    [[nodiscard]] bool is_near_root() const noexcept {
        return domains_.domain_of(args_.root) == domains_.own();
    }
    // The part that a rank of the own domain fetches.
    [[nodiscard]] part share(std::uint64_t segment, rank_t rank) const noexcept {
        return part::of(cut_.size(segment), args_.element, domains_.index(rank),
                        static_cast<rank_t>(domains_.ranks_in(domains_.own()).size()));
    }

    const algo::cut cut_;
};

// Allgather and allgatherv. Helpers fetch the data of other domains, each the data of some ranks.
// The chunks that a helper fetched lie behind its own one in its slot.
class gather_by_domain final : public pattern {
public:
    gather_by_domain(const call& args, const numa_domains& domains, const geometry& layout,
                     const tuning& params, std::pmr::memory_resource* memory);
    [[nodiscard]] const char* description() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

private:
    [[nodiscard]] std::size_t bytes(rank_t rank, std::uint64_t segment) const noexcept {
        return blocks_[rank].size(segment) * args_.element;
    }
    [[nodiscard]] std::byte* output_of(rank_t rank, std::uint64_t segment) const noexcept {
        return output() + (blocks_[rank].offset() + blocks_[rank].begin(segment)) * args_.element;
    }

    std::pmr::vector<chunked_block> blocks_;
    std::pmr::vector<rank_t> fetched_;  // by this rank, in its role as a helper
    std::pmr::vector<std::size_t>
        offsets_;  // by rank: of its chunk in the slot of its helper in the own domain
};

// Reduce_scatter and reduce_scatter_block. A helper reduces the data that its domain gave for a
// rank. That rank reduces the results of its helpers.
class reduce_scatter_by_domain final : public reduce_scatter {
public:
    reduce_scatter_by_domain(const call& args, const numa_domains& domains, const geometry& layout,
                             const tuning& params, std::pmr::memory_resource* memory);
    [[nodiscard]] const char* description() const noexcept override { return "by NUMA node"; }
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

private:
    std::pmr::vector<rank_t> helped_;   // ranks that this rank helps, including itself
    std::pmr::vector<rank_t> helpers_;  // helpers of this rank in other domains
};

}  // namespace ucg::node
