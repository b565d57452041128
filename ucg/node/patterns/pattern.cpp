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

std::unique_ptr<pattern> make_reducing(const call& args, const numa_domains& domains,
                                       const geometry& layout, const tuning& params) {
    if (reduces_directly(args, layout, params))
        return std::make_unique<reduce_directly>(args, domains, layout, params);
    return std::make_unique<reduce_in_parts>(args, domains, layout, params);
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

std::unique_ptr<pattern> make_pattern(const call& args, const numa_domains& domains,
                                      const geometry& layout, const tuning& params,
                                      const local_peers& peers) {
    if (args.element == 0 || args.element > segment_for(0, args.element, layout, params))
        return nullptr;
    const bool fits_slots = partitioned::fits(args, layout);
    const bool can_read = !peers.empty() && single_copy::is_worthwhile(args, layout, params);
    const bool by_domain = is_worthwhile_by_domain(args, domains, layout, params);
    switch (args.kind) {
        case collective::barrier:
            return std::make_unique<barrier>(args, domains);
        case collective::bcast:
            if (by_domain)
                return std::make_unique<broadcast_by_domain>(args, domains, layout, params);
            return std::make_unique<broadcast>(args, domains, layout, params);
        case collective::allreduce:
        case collective::reduce:
            if (by_domain) return std::make_unique<reduce_by_domain>(args, domains, layout, params);
            return make_reducing(args, domains, layout, params);
        case collective::allgather:
        case collective::allgatherv:
            if (can_read) return std::make_unique<single_copy>(args, domains, peers);
            if (by_domain) return std::make_unique<gather_by_domain>(args, domains, layout, params);
            [[fallthrough]];
        case collective::gather:
            return std::make_unique<gather>(args, domains, layout, params);
        case collective::alltoall:
            if (can_read) return std::make_unique<single_copy>(args, domains, peers);
            if (fits_slots) return std::make_unique<all_to_all>(args, domains, layout, params);
            break;
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            if (by_domain)
                return std::make_unique<reduce_scatter_by_domain>(args, domains, layout, params);
            if (fits_slots) return std::make_unique<reduce_scatter>(args, domains, layout, params);
            break;
        case collective::scatter:
            if (fits_slots) return std::make_unique<scatter>(args, domains, layout, params);
            break;
        default:
            break;
    }
    return nullptr;
}

}  // namespace ucg::node
