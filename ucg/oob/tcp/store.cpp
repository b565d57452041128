#include "ucg/oob/tcp/store.hpp"

#include <iterator>

namespace ucg::oob {

bool tcp_store::put(std::uint64_t number, rank_t publisher, std::span<const std::byte> content) {
    const std::size_t cost = cost_of(content.size());
    if (cost_[publisher] + cost > max_of_rank) return false;
    auto kept = std::make_shared<const std::vector<std::byte>>(content.begin(), content.end());
    const auto [entry, is_new] = open_.try_emplace(number);
    if (is_new) entry->second.users = ranks_ - static_cast<rank_t>(left_.size());
    if (!entry->second.blocks.try_emplace(publisher, std::move(kept)).second) return false;
    cost_[publisher] += cost;
    return true;
}

tcp_store::block tcp_store::find(std::uint64_t number, rank_t publisher) const noexcept {
    const auto entry = open_.find(number);
    if (entry == open_.end()) return {};
    const auto found = entry->second.blocks.find(publisher);
    return found == entry->second.blocks.end() ? block() : found->second;
}

void tcp_store::withdraw(std::uint64_t number, rank_t rank) {
    const auto entry = open_.find(number);
    if (entry == open_.end()) return;
    if (left_.contains(rank) || !entry->second.done.insert(rank).second) return;
    --entry->second.users;
    close_if_done(entry);
}

// Ranks that left are stored once and not in each publication, because a rank may have published
// many blocks.
void tcp_store::leave(rank_t rank) {
    if (!left_.insert(rank).second) return;
    for (auto each = open_.begin(); each != open_.end();) {
        if (!each->second.done.contains(rank)) --each->second.users;
        each = close_if_done(each);
    }
}

tcp_store::publications::iterator tcp_store::close_if_done(publications::iterator entry) noexcept {
    if (entry->second.users != 0) return std::next(entry);
    for (const auto& [publisher, kept] : entry->second.blocks)
        cost_[publisher] -= cost_of(kept->size());
    return open_.erase(entry);
}

}  // namespace ucg::oob
