// Allreduce and reduce, without a level for NUMA domains.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/patterns/chunked_block.hpp"
#include "ucg/node/patterns/pattern.hpp"

namespace ucg::node {

// Common to both methods: the vector in segments, and the sources of a reduction in rank order, so
// that the bits depend neither on the method nor on segments or times of arrival.
class reducing : public pattern {
public:
    reducing(const call& args, const numa_domains& domains, const geometry& layout,
             const tuning& params, std::pmr::memory_resource* memory);

protected:
    [[nodiscard]] std::size_t begin(std::uint64_t segment) const noexcept {
        return cut_.begin(segment) * args_.element;
    }
    [[nodiscard]] std::size_t bytes(std::uint64_t segment) const noexcept {
        return cut_.size(segment) * args_.element;
    }
    [[nodiscard]] bool wants_result() const noexcept {
        return args_.kind == schedule::collective::allreduce || me_ == args_.root;
    }
    // Reduces `count` elements at byte `offset` of the segment.
    void reduce(std::uint64_t segment, const segment_buffers& buffers, std::size_t offset,
                std::size_t count, std::byte* into) noexcept;

    algo::cut cut_;

private:
    std::pmr::vector<const void*> sources_;
};

// Every rank gives all its data. A rank that wants the result reduces it straight into its output.
class reduce_directly final : public reducing {
public:
    using reducing::reducing;
    [[nodiscard]] const char* description() const noexcept override { return "direct"; }
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
};

// Each rank reduces a part of every segment. Ranks that want the result copy the parts together.
// The own part is never given: it is read from the input.
class reduce_in_parts final : public reducing {
public:
    reduce_in_parts(const call& args, const numa_domains& domains, const geometry& layout,
                    const tuning& params, std::pmr::memory_resource* memory);
    [[nodiscard]] const char* description() const noexcept override { return "in parts"; }
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    [[nodiscard]] ucs_status_t work(unsigned turn, std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

private:
    [[nodiscard]] part part_of(std::uint64_t segment, rank_t rank) const noexcept {
        return part::of(cut_.size(segment), args_.element, rank, ranks_);
    }

    std::size_t block_;  // elements reduced at a time
};

}  // namespace ucg::node
