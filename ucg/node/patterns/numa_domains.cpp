#include "ucg/node/patterns/numa_domains.hpp"

#include <algorithm>

namespace ucg::node {
namespace {

bool is_worthwhile(std::span<const std::uint32_t> domain_numbers) {
    std::vector<std::uint32_t> sorted(domain_numbers.begin(), domain_numbers.end());
    std::ranges::sort(sorted);
    std::ptrdiff_t fewest = std::ssize(sorted), most = 0;
    for (auto first = sorted.begin(); first != sorted.end();) {
        if (*first == numa_domains::unknown) return false;
        const auto last = std::upper_bound(first, sorted.end(), *first);
        fewest = std::min(fewest, last - first);
        most = std::max(most, last - first);
        first = last;
    }
    return fewest > 1 && most <= 2 * fewest;
}

}  // namespace

numa_domains::numa_domains(rank_t ranks, rank_t me) : me_(me), places_(ranks), members_(1) {
    fill();
}

numa_domains::numa_domains(std::span<const std::uint32_t> domain_numbers, rank_t me)
    : me_(me), places_(domain_numbers.size()) {
    std::vector<std::uint32_t> numbers{0};
    if (is_worthwhile(domain_numbers)) {
        numbers.clear();
        for (rank_t rank = 0; rank < ranks(); ++rank) {
            const auto known = std::ranges::find(numbers, domain_numbers[rank]);
            places_[rank].domain = static_cast<rank_t>(known - numbers.begin());
            if (known == numbers.end()) numbers.push_back(domain_numbers[rank]);
        }
    }
    members_.resize(numbers.size());
    fill();
}

void numa_domains::fill() {
    for (rank_t rank = 0; rank < ranks(); ++rank) {
        std::vector<rank_t>& domain = members_[domain_of(rank)];
        places_[rank].index = static_cast<rank_t>(domain.size());
        domain.push_back(rank);
        if (rank > 0 && domain_of(rank) < domain_of(rank - 1)) in_order_ = false;
    }
    smallest_ = ranks();
    for (const std::vector<rank_t>& each : members_)
        smallest_ = std::min(smallest_, static_cast<rank_t>(each.size()));
    for (rank_t step = 1; step < ranks(); ++step) {
        const rank_t rank = (me_ + step) % ranks();
        peers_.push_back(rank);
        if (domain_of(rank) == own()) own_peers_.push_back(rank);
    }
}

}  // namespace ucg::node
