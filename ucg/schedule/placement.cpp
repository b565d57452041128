#include "ucg/schedule/placement.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace ucg::schedule {
namespace {

std::vector<std::uint64_t> all_different(rank_t ranks) {
    std::vector<std::uint64_t> names(ranks);
    std::iota(names.begin(), names.end(), std::uint64_t{0});
    return names;
}

}  // namespace

placement::placement(rank_t ranks) : placement(all_different(ranks)) {}

placement::placement(std::span<const std::uint64_t> names)
    : locations_(names.size()), members_(names.size()) {
    std::unordered_map<std::uint64_t, rank_t> nodes;
    std::vector<rank_t> sizes;
    for (rank_t rank = 0; rank < names.size(); ++rank) {
        const auto [found, is_new] =
            nodes.try_emplace(names[rank], static_cast<rank_t>(sizes.size()));
        if (is_new) sizes.push_back(0);
        locations_[rank] = {found->second, sizes[found->second]++};
        is_in_order_ = is_in_order_ && found->second + 1 == sizes.size();
    }
    begins_.resize(sizes.size() + 1);
    std::inclusive_scan(sizes.begin(), sizes.end(), begins_.begin() + 1, std::plus<std::size_t>());
    for (rank_t rank = 0; rank < locations_.size(); ++rank)
        members_[begins_[locations_[rank].node] + locations_[rank].index] = rank;
    min_ranks_per_node_ = *std::ranges::min_element(sizes);
    max_ranks_per_node_ = *std::ranges::max_element(sizes);
}

}  // namespace ucg::schedule
