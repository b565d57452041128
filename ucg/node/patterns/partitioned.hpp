// Collectives in which a rank has one block for each rank: alltoall, reduce_scatter(_block) and
// scatter.
#pragma once

#include <memory>

#include "ucg/node/patterns/chunked_block.hpp"

namespace ucg::node {

// Common to them: a segment has one chunk of every block. The chunks lie one after the other in a
// slot.
class partitioned : public pattern {
public:
    partitioned(const call& args, const numa_domains& domains, const geometry& layout,
                const tuning& params, std::pmr::memory_resource* memory);

    // Returns whether a slot has room for one element for each rank.
    [[nodiscard]] static bool fits(const call& args, const geometry& layout) noexcept;

    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

protected:
    // Bytes of the chunk of a rank's block.
    [[nodiscard]] std::size_t bytes(rank_t rank, std::uint64_t segment) const noexcept {
        return blocks_[rank].size(segment) * args_.element;
    }
    // Offset of the chunk within the block, and within a buffer with all blocks.
    [[nodiscard]] std::size_t offset_in_block(rank_t rank, std::uint64_t segment) const noexcept {
        return blocks_[rank].begin(segment) * args_.element;
    }
    [[nodiscard]] std::size_t offset_in_buffer(rank_t rank, std::uint64_t segment) const noexcept {
        return blocks_[rank].offset() * args_.element + offset_in_block(rank, segment);
    }
    // Offset of a chunk in a slot.
    [[nodiscard]] std::size_t offset(rank_t rank) const noexcept { return offsets_[rank]; }
    // Puts the chunks of all other ranks from `all` into the own slot.
    void give_others(const std::byte* all, std::uint64_t segment,
                     const segment_buffers& buffers) noexcept;
    // Returns the chunk that another rank gave this one.
    [[nodiscard]] const std::byte* from(rank_t rank,
                                        const segment_buffers& buffers) const noexcept {
        return buffers.data(rank) + offsets_[me_];
    }

private:
    std::pmr::vector<chunked_block> blocks_;
    std::pmr::vector<std::size_t> offsets_;  // of chunks in a slot
};

class all_to_all final : public partitioned {
public:
    using partitioned::partitioned;
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
};

// The result may lie at the own block of the input, also if the call is not in place.
class reduce_scatter : public partitioned {
public:
    reduce_scatter(const call& args, const numa_domains& domains, const geometry& layout,
                   const tuning& params, std::pmr::memory_resource* memory);
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;

protected:
    // Reduces the own chunk from `sources_`, which has room for all ranks.
    void reduce_sources(std::uint64_t segment) noexcept;

    std::pmr::vector<const void*> sources_;

private:
    // Holds results until all of the input is given, if they would overwrite input before that.
    std::unique_ptr<std::byte[]> spare_;
};

class scatter final : public partitioned {
public:
    scatter(const call& args, const numa_domains& domains, const geometry& layout,
            const tuning& params, std::pmr::memory_resource* memory);
    void give(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
    void take(std::uint64_t segment, const segment_buffers& buffers) noexcept override;
};

}  // namespace ucg::node
