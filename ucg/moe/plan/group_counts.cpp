#include "ucg/moe/plan/group_counts.hpp"

#include <algorithm>

namespace ucg::moe {
namespace {

// This rank can verify only the count for itself and the counts for masked ranks.
bool is_valid(const team& group, const routes& source_routes) noexcept {
    bool fits = source_routes.targets()[group.self()] == source_routes.total();
    for (rank_t rank = 0; rank < group.ranks(); ++rank)
        fits = fits && (group.is_alive(rank) || source_routes.targets()[rank] == 0);
    return fits;
}

}  // namespace

ucs_status_t group_counts::make(const team& group, std::span<const routes> all) {
    const std::size_t ranks = group.ranks();
    std::vector<std::uint64_t> sums(ranks);
    counts.resize(ranks * ranks);
    for (const routes& source_routes : all) {
        if (!is_valid(group, source_routes))
            return refuse_from(source_routes.source(), "wrong counts of rows");
        const std::span<const std::uint32_t> targets = source_routes.targets();
        std::ranges::copy(targets, counts.begin() + std::ptrdiff_t{source_routes.source()} *
                                                        static_cast<std::ptrdiff_t>(ranks));
        for (std::size_t rank = 0; rank < ranks; ++rank)
            sums[rank] += targets[rank];
    }
    const auto too_many = [](std::uint64_t sum) { return sum > INT32_MAX; };
    return std::ranges::any_of(sums, too_many) ? UCS_ERR_EXCEEDS_LIMIT : UCS_OK;
}

}  // namespace ucg::moe
