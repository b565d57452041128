#include "ucg/node/portion.hpp"

namespace ucg::node {

std::uint64_t longest_block(const call& what, rank_t ranks) noexcept {
    if (what.counts == nullptr) return what.count;
    return *std::max_element(what.counts, what.counts + ranks);
}

std::vector<portion> portions_of(const call& what, rank_t ranks, std::uint64_t segments) {
    // Only allgatherv may have gaps between its blocks.
    const bool placed = what.what == schedule::collective::allgatherv;
    std::vector<portion> made;
    made.reserve(ranks);
    std::uint64_t next = 0;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        const std::uint64_t count = block_count(what, rank);
        made.emplace_back(placed ? what.places[rank] : next, count, segments);
        next += count;
    }
    return made;
}

}  // namespace ucg::node
