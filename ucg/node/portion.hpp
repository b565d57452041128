// Blocks of ranks, cut so that all of them end with the last segment.
#pragma once

#include <algorithm>
#include <vector>

#include "ucg/node/pattern.hpp"

namespace ucg::node {

// The block of one rank in as many pieces as there are segments: a longer block has longer pieces.
// So ranks whose blocks differ in size work at the same time, and one that has everything can use
// whole slots. Pieces differ by one element at most, the longer ones first. Value type.
class portion {
public:
    portion(std::uint64_t place, std::uint64_t count, std::uint64_t segments) noexcept
        : place_(place), each_(count / segments), longer_(count % segments) {}

    // In elements; of the block within the user's buffer, of a piece within the block.
    [[nodiscard]] std::uint64_t place() const noexcept { return place_; }
    [[nodiscard]] std::uint64_t begin(std::uint64_t segment) const noexcept {
        return segment * each_ + std::min(segment, longer_);
    }
    [[nodiscard]] std::uint64_t size(std::uint64_t segment) const noexcept {
        return each_ + (segment < longer_ ? 1 : 0);
    }
    [[nodiscard]] std::uint64_t longest() const noexcept { return size(0); }

private:
    std::uint64_t place_, each_, longer_;
};

// How many elements belong to a rank, where the call has a block for each.
[[nodiscard]] inline std::uint64_t block_count(const call& what, rank_t of) noexcept {
    return what.counts == nullptr ? what.count : what.counts[of];
}

[[nodiscard]] std::uint64_t longest_block(const call& what, rank_t ranks) noexcept;

// Of every rank. Blocks lie where `places` of the call says; without, one behind the other.
[[nodiscard]] std::vector<portion> portions_of(const call& what, rank_t ranks,
                                               std::uint64_t segments);

}  // namespace ucg::node
