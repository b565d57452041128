#include "ucp/tag/match/unexpected.hpp"

#include <bit>

namespace ucp::tag {

namespace {

bool matches(const unexpected_entry& entry, std::uint64_t tag, std::uint64_t mask) noexcept {
    return ((entry.tag ^ tag) & mask) == 0;
}

}  // namespace

void unexpected_queue::add_to_tables(unexpected_entry& entry) noexcept {
    if (lone_ != nullptr) {
        table_.set_mask(specific_);
        unexpected_entry& first = *lone_;
        lone_ = nullptr;
        table_.add(first);
        indexes_.add(first, size_);
    }
    table_.add(entry);
    if (!indexes_.empty()) [[unlikely]]
        indexes_.add(entry, size_);
}

unexpected_entry* unexpected_queue::find_other(std::uint64_t tag,
                                               std::uint64_t mask) const noexcept {
    // From the next time that the table is empty, its keys use the most specific mask in use.
    if (const int bits = std::popcount(mask); bits > specific_bits_) {
        specific_bits_ = bits;
        specific_ = mask;
    }
    if (mask_index* index = indexes_.find(mask)) return index->first(tag);
    const bool refines = (table_.mask() & ~mask) == 0;
    const found result = refines ? walk_key(tag, mask) : walk_all(tag, mask);
    if (indexes_.account(mask, result.steps, size_)) build_index(mask);
    return result.entry;
}

unexpected_queue::found unexpected_queue::walk_all(std::uint64_t tag,
                                                   std::uint64_t mask) const noexcept {
    std::size_t steps = 0;
    for (unexpected_entry& entry : arrivals_) {
        ++steps;
        if (matches(entry, tag, mask)) return {&entry, steps};
    }
    return {nullptr, steps};
}

// Used for a mask that has all bits of the table's mask: only entries of one key can match.
unexpected_queue::found unexpected_queue::walk_key(std::uint64_t tag,
                                                   std::uint64_t mask) const noexcept {
    unexpected_entry* const oldest = *table_.find(tag);
    if (oldest == nullptr) return {nullptr, 0};
    std::size_t steps = 0;
    unexpected_entry* entry = oldest;
    do {
        ++steps;
        if (matches(*entry, tag, mask)) return {entry, steps};
        entry = entry->links.newer;
    } while (entry != oldest);
    return {nullptr, steps};
}

void unexpected_queue::build_index(std::uint64_t mask) const noexcept {
    mask_index* index = indexes_.make(mask, size_);
    if (index == nullptr) return;
    for (unexpected_entry& entry : arrivals_) {
        if (!index->add(entry)) {
            indexes_.drop(*index);
            return;
        }
    }
    static_cast<void>(index->first(0));  // counts as a use
}

}  // namespace ucp::tag
