#include "ucg/oob/tcp_store.hpp"

#include <iterator>

namespace ucg::oob {

bool tcp_store::put(std::uint64_t number, rank_t by, std::span<const std::byte> what) {
    const std::size_t cost = cost_of(what.size());
    if (cost_[by] + cost > most_of_rank) return false;
    auto kept = std::make_shared<const std::vector<std::byte>>(what.begin(), what.end());
    const auto [which, is_new] = open_.try_emplace(number);
    if (is_new) which->second.asking = ranks_ - static_cast<rank_t>(gone_.size());
    if (!which->second.blocks.try_emplace(by, std::move(kept)).second) return false;
    cost_[by] += cost;
    return true;
}

tcp_store::block tcp_store::find(std::uint64_t number, rank_t of) const noexcept {
    const auto which = open_.find(number);
    if (which == open_.end()) return {};
    const auto found = which->second.blocks.find(of);
    return found == which->second.blocks.end() ? block() : found->second;
}

void tcp_store::withdraw(std::uint64_t number, rank_t by) {
    const auto which = open_.find(number);
    if (which == open_.end()) return;
    if (gone_.contains(by) || !which->second.done.insert(by).second) return;
    --which->second.asking;
    close_if_done(which);
}

// The ranks that left are kept once, and not in each publication: a rank may have published many.
void tcp_store::leave(rank_t who) {
    if (!gone_.insert(who).second) return;
    for (auto each = open_.begin(); each != open_.end();) {
        if (!each->second.done.contains(who)) --each->second.asking;
        each = close_if_done(each);
    }
}

tcp_store::publications::iterator tcp_store::close_if_done(publications::iterator which) noexcept {
    if (which->second.asking != 0) return std::next(which);
    for (const auto& [rank, kept] : which->second.blocks)
        cost_[rank] -= cost_of(kept->size());
    return open_.erase(which);
}

}  // namespace ucg::oob
