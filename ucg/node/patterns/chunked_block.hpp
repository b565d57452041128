// Division of each rank's block into one chunk per segment, so that all blocks end with the last
// segment.
#pragma once

#include <algorithm>
#include <memory_resource>
#include <vector>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/memory/layout.hpp"
#include "ucg/node/patterns/pattern.hpp"

namespace ucg::node {

// The block of one rank, divided into as many chunks as there are segments. A longer block has
// longer chunks, so ranks whose blocks differ in size work at the same time, and a rank that has
// all data can use whole slots. Chunks differ by at most one element, the longer ones first. Value
// type.
class chunked_block {
public:
    chunked_block(std::uint64_t offset, std::uint64_t count, std::uint64_t segments) noexcept
        : offset_(offset), chunk_(count / segments), longer_chunks_(count % segments) {}

    // Sizes and offsets are in elements: offset() of the block within the user's buffer, begin() of
    // a chunk within the block.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] std::uint64_t begin(std::uint64_t segment) const noexcept {
        return segment * chunk_ + std::min(segment, longer_chunks_);
    }
    [[nodiscard]] std::uint64_t size(std::uint64_t segment) const noexcept {
        return chunk_ + (segment < longer_chunks_ ? 1 : 0);
    }
    [[nodiscard]] std::uint64_t longest() const noexcept { return size(0); }

private:
    std::uint64_t offset_, chunk_, longer_chunks_;
};

// Returns how many elements a rank's block has, if the call has a block for each rank.
[[nodiscard]] inline std::uint64_t block_count(const call& args, rank_t rank) noexcept {
    return args.counts == nullptr ? args.count : args.counts[rank];
}

[[nodiscard]] std::uint64_t longest_block(const call& args, rank_t ranks) noexcept;

// Returns the block of every rank. Blocks lie at `args.offsets` if the collective has them,
// otherwise one behind the other.
[[nodiscard]] std::pmr::vector<chunked_block> chunked_blocks(const call& args, rank_t ranks,
                                                             std::uint64_t segments,
                                                             std::pmr::memory_resource* memory);

// Parts begin at whole cache lines if elements do. Value type.
struct part {
    std::size_t begin, end;  // bytes within the segment

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }

    // Returns part `index` of `parts` nearly equal parts of a segment of `count` elements.
    [[nodiscard]] static part of(std::uint64_t count, std::size_t element, rank_t index,
                                 rank_t parts) noexcept {
        const std::size_t together = line % element == 0 ? line / element : 1;  // elements
        const algo::cut grains{(count + together - 1) / together, parts};
        return {std::min(grains.begin(index) * together, count) * element,
                std::min(grains.begin(index + 1) * together, count) * element};
    }
};

}  // namespace ucg::node
