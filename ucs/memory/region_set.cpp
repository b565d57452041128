#include "ucs/memory/region_set.hpp"

#include <cassert>
#include <iterator>

namespace ucs::memory {

region* region_set::search(const address_range& range, unsigned access) noexcept {
    auto behind = by_address_.upper_bound(range.begin);
    if (behind == by_address_.begin()) return nullptr;
    region& found = *std::prev(behind);
    if (!serves(found, range, access)) return nullptr;
    last_found_ = &found;
    return &found;
}

region* region_set::first_overlapping(const address_range& range) noexcept {
    auto next = by_address_.upper_bound(range.begin);
    if (next != by_address_.begin() && std::prev(next)->range.end > range.begin)
        return &*std::prev(next);
    return next != by_address_.end() && next->range.begin < range.end ? &*next : nullptr;
}

void region_set::insert(region& added) noexcept {
    assert(first_overlapping(added.range) == nullptr);
    by_address_.insert(added);
    if (added.users == 0) unused_.push_back(added);
    added.is_cached = true;
    last_found_ = &added;
    ++count_;
    bytes_ += added.range.size();
}

void region_set::remove(region& removed) noexcept {
    by_address_.erase(tree::s_iterator_to(removed));
    if (removed.users == 0) unused_.erase(region_list::s_iterator_to(removed));
    removed.is_cached = false;
    if (last_found_ == &removed) last_found_ = nullptr;
    --count_;
    bytes_ -= removed.range.size();
}

}  // namespace ucs::memory
