#include "tools/ucg_perf/layout.hpp"

namespace tools::ucg_perf {

ucg::reference::layout make_layout(const wanted_layout& wanted, std::uint32_t rank,
                                   std::uint32_t ranks) {
    const ucg::schedule::traits kind = traits_of(wanted.collective);
    // The sum over all ranks equals that of even blocks, and two ranks have blocks of equal size
    // for each other.
    const auto uneven = [&](std::uint32_t from, std::uint32_t to) {
        const std::uint32_t owner = kind.gives_blocks && kind.takes_blocks ? (from + to) % ranks
                                    : kind.gives_blocks                    ? to
                                                                           : from;
        const std::uint32_t half = ranks / 2;
        const std::uint64_t quarter = wanted.count / 4;
        if (owner < half) return wanted.count + quarter;
        return owner >= ranks - half ? wanted.count - quarter : wanted.count;
    };
    return ucg::reference::make_layout(
        {static_cast<ucg::schedule::collective>(wanted.collective), ranks, wanted.count,
         wanted.root, wanted.in_place, uneven, 0},
        rank);
}

std::uint64_t total_elements(const wanted_layout& wanted, std::uint32_t ranks) noexcept {
    if (wanted.collective == UCG_COLL_BARRIER) return 0;
    return traits_of(wanted.collective).has_blocks() ? wanted.count * ranks : wanted.count;
}

double bus_factor(ucg_coll_t collective, std::uint32_t ranks) noexcept {
    if (!traits_of(collective).has_blocks() && collective != UCG_COLL_ALLREDUCE) return 1;
    const double others = static_cast<double>(ranks - 1) / ranks;
    return collective == UCG_COLL_ALLREDUCE ? 2 * others : others;
}

}  // namespace tools::ucg_perf
