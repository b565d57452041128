#include "ucg/node/patterns/chunked_block.hpp"

namespace ucg::node {

std::uint64_t longest_block(const call& args, rank_t ranks) noexcept {
    if (args.counts == nullptr) return args.count;
    return *std::max_element(args.counts, args.counts + ranks);
}

std::pmr::vector<chunked_block> chunked_blocks(const call& args, rank_t ranks,
                                               std::uint64_t segments,
                                               std::pmr::memory_resource* memory) {
    // Only allgatherv may have gaps between its blocks.
    const bool has_offsets = args.kind == schedule::collective::allgatherv;
    std::pmr::vector<chunked_block> blocks(memory);
    blocks.reserve(ranks);
    std::uint64_t next = 0;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        const std::uint64_t count = block_count(args, rank);
        blocks.emplace_back(has_offsets ? args.offsets[rank] : next, count, segments);
        next += count;
    }
    return blocks;
}

}  // namespace ucg::node
