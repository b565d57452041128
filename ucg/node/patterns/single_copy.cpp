#include "ucg/node/patterns/single_copy.hpp"

#include <cstring>

namespace ucg::node {

// A block that more than one other rank needs is faster from a slot, where it stays in the cache.
bool single_copy::is_worthwhile(const call& args, const geometry& layout,
                                const tuning& params) noexcept {
    if (args.kind != schedule::collective::alltoall && layout.ranks > 2) return false;
    std::uint64_t shortest = block_count(args, 0), all = 0;
    for (rank_t rank = 0; rank < layout.ranks; ++rank) {
        shortest = std::min(shortest, block_count(args, rank));
        all += block_count(args, rank);
    }
    return shortest * args.element >= params.single_copy_bytes &&
           all * args.element < params.max_single_copy_bytes;
}

single_copy::single_copy(const call& args, const numa_domains& domains, const local_peers& peers,
                         std::pmr::memory_resource* memory)
    : pattern(args, domains),
      peers_(peers),
      blocks_(chunked_blocks(args, domains.ranks(), 1, memory)) {
    plan_.bytes = sizeof(std::uint64_t);
    plan_.work_stages = 1;
    plan_.awaits = {domains.peers(), domains.peers()};
    if (args.in_place && is_alltoall()) spare_.reset(new std::byte[offset(ranks_ - 1) + bytes(0)]);
}

void single_copy::give(std::uint64_t, const segment_buffers& buffers) noexcept {
    const std::byte* from = input();
    if (spare_ != nullptr) {
        std::memcpy(spare_.get(), from, offset(ranks_ - 1) + bytes(0));
        from = spare_.get();
    } else if (args_.in_place) {
        from += offset(me_);  // the own block of an allgather
    } else {
        std::memcpy(output() + offset(me_), is_alltoall() ? from + offset(me_) : from, bytes(me_));
    }
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(from));
    std::memcpy(buffers.data(me_), &address, sizeof address);
}

ucs_status_t single_copy::work(unsigned, std::uint64_t, const segment_buffers& buffers) noexcept {
    for (const rank_t peer : domains_.peers()) {
        std::uint64_t address = 0;
        std::memcpy(&address, buffers.data(peer), sizeof address);
        if (is_alltoall()) address += offset(me_);
        const ucs_status_t status =
            peers_.read(peer, address, output() + offset(peer), bytes(peer));
        if (status != UCS_OK) return status;
    }
    return UCS_OK;
}

}  // namespace ucg::node
