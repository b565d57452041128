#include "ucg/node/domains.hpp"

#include <algorithm>

namespace ucg::node {
namespace {

bool pays(std::span<const std::uint32_t> of_ranks) {
    std::vector<std::uint32_t> sorted(of_ranks.begin(), of_ranks.end());
    std::ranges::sort(sorted);
    std::ptrdiff_t fewest = std::ssize(sorted), most = 0;
    for (auto first = sorted.begin(); first != sorted.end();) {
        if (*first == domains::unknown) return false;
        const auto last = std::upper_bound(first, sorted.end(), *first);
        fewest = std::min(fewest, last - first);
        most = std::max(most, last - first);
        first = last;
    }
    return fewest > 1 && most <= 2 * fewest;
}

}  // namespace

domains::domains(rank_t ranks, rank_t me) : me_(me), places_(ranks), members_(1) {
    fill();
}

domains::domains(std::span<const std::uint32_t> of_ranks, rank_t me)
    : me_(me), places_(of_ranks.size()) {
    std::vector<std::uint32_t> numbers{0};
    if (pays(of_ranks)) {
        numbers.clear();
        for (rank_t rank = 0; rank < ranks(); ++rank) {
            const auto known = std::ranges::find(numbers, of_ranks[rank]);
            places_[rank].domain = static_cast<rank_t>(known - numbers.begin());
            if (known == numbers.end()) numbers.push_back(of_ranks[rank]);
        }
    }
    members_.resize(numbers.size());
    fill();
}

void domains::fill() {
    for (rank_t rank = 0; rank < ranks(); ++rank) {
        std::vector<rank_t>& domain = members_[of(rank)];
        places_[rank].index = static_cast<rank_t>(domain.size());
        domain.push_back(rank);
        if (rank > 0 && of(rank) < of(rank - 1)) in_order_ = false;
    }
    fewest_ = ranks();
    for (const std::vector<rank_t>& each : members_)
        fewest_ = std::min(fewest_, static_cast<rank_t>(each.size()));
    for (rank_t step = 1; step < ranks(); ++step) {
        const rank_t rank = (me_ + step) % ranks();
        others_.push_back(rank);
        if (of(rank) == mine()) near_.push_back(rank);
    }
}

}  // namespace ucg::node
