#include "ucg/node/pattern.hpp"

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

std::unique_ptr<pattern> make_reducing(const call& what, rank_t me, const geometry& like,
                                       const tuning& by) {
    if (reduces_directly(what, like, by))
        return std::make_unique<reduce_directly>(what, me, like, by);
    return std::make_unique<reduce_in_parts>(what, me, like, by);
}

}  // namespace

std::unique_ptr<pattern> make_pattern(const call& what, rank_t me, const geometry& like,
                                      const tuning& by, const neighbours& others) {
    if (what.element == 0 || what.element > std::min<std::size_t>(by.segment, like.slot_bytes))
        return nullptr;
    const bool deals = dealing::fits(what, like);
    const bool reads = !others.empty() && reading::pays(what, like, by);
    switch (what.what) {
        case collective::barrier:
            return std::make_unique<meet>(what, me, like);
        case collective::bcast:
            return std::make_unique<broadcast>(what, me, like, by);
        case collective::allreduce:
        case collective::reduce:
            return make_reducing(what, me, like, by);
        case collective::allgather:
        case collective::allgatherv:
            if (reads) return std::make_unique<reading>(what, me, like, others);
            [[fallthrough]];
        case collective::gather:
            return std::make_unique<collect>(what, me, like, by);
        case collective::alltoall:
            if (reads) return std::make_unique<reading>(what, me, like, others);
            if (deals) return std::make_unique<all_to_all>(what, me, like, by);
            break;
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            if (deals) return std::make_unique<reduce_and_deal>(what, me, like, by);
            break;
        case collective::scatter:
            if (deals) return std::make_unique<deal>(what, me, like, by);
            break;
        default:
            break;
    }
    return nullptr;
}

}  // namespace ucg::node
