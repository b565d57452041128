#include "ucg/moe/census.hpp"

#include <algorithm>

namespace ucg::moe {
namespace {

// What it says of others cannot be compared with anything here.
bool can_be(const team& of, const routes& each) noexcept {
    bool fits = each.targets()[of.self()] == each.total();
    for (rank_t rank = 0; rank < of.ranks(); ++rank)
        fits = fits && (of.lives(rank) || each.targets()[rank] == 0);
    return fits;
}

}  // namespace

ucs_status_t census::make(const team& of, std::span<const routes> all) {
    const std::size_t ranks = of.ranks();
    std::vector<std::uint64_t> sums(ranks);
    counts.resize(ranks * ranks);
    for (const routes& each : all) {
        if (!can_be(of, each))
            return refuse_from(each.source(), "counts of rows that it does not send");
        const std::span<const std::uint32_t> targets = each.targets();
        std::ranges::copy(targets, counts.begin() + std::ptrdiff_t{each.source()} *
                                                        static_cast<std::ptrdiff_t>(ranks));
        for (std::size_t rank = 0; rank < ranks; ++rank)
            sums[rank] += targets[rank];
    }
    const auto too_many = [](std::uint64_t sum) { return sum > INT32_MAX; };
    return std::ranges::any_of(sums, too_many) ? UCS_ERR_EXCEEDS_LIMIT : UCS_OK;
}

}  // namespace ucg::moe
