#include "ucg/node/patterns/pattern.hpp"

#include "ucg/node/patterns/by_domain.hpp"
#include "ucg/node/patterns/copying.hpp"
#include "ucg/node/patterns/partitioned.hpp"
#include "ucg/node/patterns/reducing.hpp"
#include "ucg/node/patterns/single_copy.hpp"

namespace ucg::node {
namespace {

using schedule::collective;

bool reduces_directly(const call& args, const geometry& layout, const tuning& params) noexcept {
    const double bytes = static_cast<double>(args.count) * static_cast<double>(args.element);
    if (layout.ranks <= params.direct_ranks &&
        bytes <= static_cast<double>(params.direct_ranks_bytes))
        return true;
    return bytes * static_cast<double>(layout.ranks - 1) <=
           static_cast<double>(params.direct_bytes);
}

// Returns the bytes of the largest pattern. Each rank has a block, its offset, a source or a place
// in two lists, and two numbers while the pattern is made.
std::size_t most_bytes(rank_t ranks) noexcept {
    constexpr std::size_t each = sizeof(chunked_block) + 2 * sizeof(void*) + 4 * sizeof(rank_t);
    constexpr std::size_t object =
        std::max({sizeof(broadcast), sizeof(gather), sizeof(all_to_all), sizeof(scatter),
                  sizeof(reduce_in_parts), sizeof(reduce_by_domain), sizeof(broadcast_by_domain),
                  sizeof(gather_by_domain), sizeof(reduce_scatter_by_domain), sizeof(single_copy)});
    constexpr std::size_t alignment = 8 * alignof(std::max_align_t);
    return object + ranks * each + alignment;
}

}  // namespace

std::size_t segment_for(std::size_t bytes, std::size_t element, const geometry& layout,
                        const tuning& params) noexcept {
    const std::size_t shortest = std::min<std::size_t>(params.segment, layout.slot_bytes);
    const bool is_long =
        element > shortest || params.are_long(static_cast<double>(bytes), layout.ranks);
    return is_long ? std::max(shortest, longest_segment(layout, params)) : shortest;
}

bool has_patterns(collective type) noexcept {
    switch (type) {
        case collective::gatherv:
        case collective::scatterv:
        case collective::alltoallv:
        case collective::scan:
        case collective::exscan:
            return false;
        default:
            return true;
    }
}

pattern_memory::pattern_memory(rank_t ranks)
    : bytes_(most_bytes(ranks)), buffer_(new std::byte[bytes_]), free_(buffer_.get(), bytes_) {}

template<class Pattern, class... Args>
pattern* pattern_memory::place(Args&&... args) {
    made_.reset(
        std::pmr::polymorphic_allocator<>(&free_).new_object<Pattern>(std::forward<Args>(args)...));
    return made_.get();
}

pattern* pattern_memory::make(const call& args, const numa_domains& domains, const geometry& layout,
                              const tuning& params, const local_peers& peers) {
    made_.reset();
    free_.release();
    if (args.element == 0 || args.element > segment_for(0, args.element, layout, params))
        return nullptr;
    const bool fits_slots = partitioned::fits(args, layout);
    const bool can_read = !peers.empty() && single_copy::is_worthwhile(args, layout, params);
    const bool by_domain = is_worthwhile_by_domain(args, domains, layout, params);
    switch (args.kind) {
        case collective::barrier:
            return place<barrier>(args, domains);
        case collective::bcast:
            if (by_domain) return place<broadcast_by_domain>(args, domains, layout, params);
            return place<broadcast>(args, domains, layout, params);
        case collective::allreduce:
        case collective::reduce:
            if (by_domain) return place<reduce_by_domain>(args, domains, layout, params, &free_);
            if (reduces_directly(args, layout, params))
                return place<reduce_directly>(args, domains, layout, params, &free_);
            return place<reduce_in_parts>(args, domains, layout, params, &free_);
        case collective::allgather:
        case collective::allgatherv:
            if (can_read) return place<single_copy>(args, domains, peers, &free_);
            if (by_domain) return place<gather_by_domain>(args, domains, layout, params, &free_);
            [[fallthrough]];
        case collective::gather:
            return place<gather>(args, domains, layout, params, &free_);
        case collective::alltoall:
            if (can_read) return place<single_copy>(args, domains, peers, &free_);
            if (fits_slots) return place<all_to_all>(args, domains, layout, params, &free_);
            break;
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            if (by_domain)
                return place<reduce_scatter_by_domain>(args, domains, layout, params, &free_);
            if (fits_slots) return place<reduce_scatter>(args, domains, layout, params, &free_);
            break;
        case collective::scatter:
            if (fits_slots) return place<scatter>(args, domains, layout, params, &free_);
            break;
        default:
            break;
    }
    return nullptr;
}

}  // namespace ucg::node
