#include "ucg/node/pattern.hpp"

#include "ucg/node/by_domain.hpp"
#include "ucg/node/dealing.hpp"
#include "ucg/node/moving.hpp"
#include "ucg/node/reading.hpp"
#include "ucg/node/reducing.hpp"

namespace ucg::node {
namespace {

using schedule::collective;

bool reduces_directly(const call& what, const geometry& like, const tuning& by) noexcept {
    const double bytes = static_cast<double>(what.count) * static_cast<double>(what.element);
    if (like.ranks <= by.direct_ranks && bytes <= static_cast<double>(by.direct_ranks_bytes))
        return true;
    return bytes * static_cast<double>(like.ranks - 1) <= static_cast<double>(by.direct_bytes);
}

std::unique_ptr<pattern> make_reducing(const call& what, const domains& who, const geometry& like,
                                       const tuning& by) {
    if (reduces_directly(what, like, by))
        return std::make_unique<reduce_directly>(what, who, like, by);
    return std::make_unique<reduce_in_parts>(what, who, like, by);
}

}  // namespace

std::size_t segment_for(std::size_t bytes, std::size_t element, const geometry& like,
                        const tuning& by) noexcept {
    const std::size_t shortest = std::min<std::size_t>(by.segment, like.slot_bytes);
    const bool is_long = element > shortest || by.are_long(static_cast<double>(bytes), like.ranks);
    return is_long ? std::max(shortest, longest_segment(like, by)) : shortest;
}

bool has_patterns(collective what) noexcept {
    switch (what) {
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

std::unique_ptr<pattern> make_pattern(const call& what, const domains& who, const geometry& like,
                                      const tuning& by, const neighbours& others) {
    if (what.element == 0 || what.element > segment_for(0, what.element, like, by)) return nullptr;
    const bool deals = dealing::fits(what, like);
    const bool reads = !others.empty() && reading::pays(what, like, by);
    const bool by_domain = pays_by_domain(what, who, like, by);
    switch (what.what) {
        case collective::barrier:
            return std::make_unique<meet>(what, who);
        case collective::bcast:
            if (by_domain) return std::make_unique<broadcast_by_domain>(what, who, like, by);
            return std::make_unique<broadcast>(what, who, like, by);
        case collective::allreduce:
        case collective::reduce:
            if (by_domain) return std::make_unique<reduce_by_domain>(what, who, like, by);
            return make_reducing(what, who, like, by);
        case collective::allgather:
        case collective::allgatherv:
            if (reads) return std::make_unique<reading>(what, who, others);
            if (by_domain) return std::make_unique<collect_by_domain>(what, who, like, by);
            [[fallthrough]];
        case collective::gather:
            return std::make_unique<collect>(what, who, like, by);
        case collective::alltoall:
            if (reads) return std::make_unique<reading>(what, who, others);
            if (deals) return std::make_unique<all_to_all>(what, who, like, by);
            break;
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            if (by_domain) return std::make_unique<reduce_and_deal_by_domain>(what, who, like, by);
            if (deals) return std::make_unique<reduce_and_deal>(what, who, like, by);
            break;
        case collective::scatter:
            if (deals) return std::make_unique<deal>(what, who, like, by);
            break;
        default:
            break;
    }
    return nullptr;
}

}  // namespace ucg::node
