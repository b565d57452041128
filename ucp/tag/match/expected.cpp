#include "ucp/tag/match/expected.hpp"

#include "ucs/type/allocated.hpp"

namespace ucp::tag {

expected_queue::table& expected_queue::table_of(std::uint64_t mask) noexcept {
    std::size_t i = 0;
    while (at(i).mask() != mask)
        ++i;
    return at(i);
}

// Finds the table of a mask for add, or gives an empty table to that mask. So a program that
// changes between masks without having two posted at the same time stays with one table. Returns
// false if there is no memory.
bool expected_queue::select(std::uint64_t mask) noexcept {
    table* unused = nullptr;
    for (std::size_t i = 0; i < used_; ++i) {
        table& candidate = at(i);
        if (candidate.mask() == mask) {
            last_ = &candidate;
            return true;
        }
        if (candidate.empty() && unused == nullptr) unused = &candidate;
    }
    if (unused == nullptr) {
        if (used_ == resident + more_.size() &&
            !ucs::allocated([this] { more_.push_back(std::make_unique<table>()); }))
            return false;
        unused = &at(used_++);
    }
    unused->set_mask(mask);
    last_ = unused;
    return true;
}

void expected_queue::add_loose(expected_entry& entry) noexcept {
    entry.links.newer = nullptr;
    expected_entry** end = &loose_;
    while (*end != nullptr)
        end = &(*end)->links.newer;
    *end = &entry;
}

// Returns the link that points to the oldest match, or to nullptr.
expected_entry** expected_queue::find_loose(std::uint64_t tag) noexcept {
    expected_entry** link = &loose_;
    while (*link != nullptr && (((*link)->tag ^ tag) & (*link)->mask) != 0)
        link = &(*link)->links.newer;
    return link;
}

bool expected_queue::remove_loose(expected_entry& entry) noexcept {
    expected_entry** link = &loose_;
    while (*link != nullptr && *link != &entry)
        link = &(*link)->links.newer;
    if (*link == nullptr) return false;
    *link = entry.links.newer;
    return true;
}

void expected_queue::add_to_tables(expected_entry& entry) noexcept {
    // A single tail call for the rare case keeps the common path free of saved registers.
    if (lone_ != nullptr || last_->mask() != entry.mask) [[unlikely]] {
        prepare_tables(entry);
        return;
    }
    last_->add(entry);
}

void expected_queue::prepare_tables(expected_entry& entry) noexcept {
    if (expected_entry* first = std::exchange(lone_, nullptr)) {
        // All tables are empty, so one is available.
        if (last_->mask() != first->mask) static_cast<void>(select(first->mask));
        last_->add(*first);
    }
    if (last_->mask() != entry.mask && !select(entry.mask)) {
        add_loose(entry);
        return;
    }
    last_->add(entry);
}

expected_entry* expected_queue::match_in_tables(std::uint64_t tag) noexcept {
    if (used_ != 1) [[unlikely]]
        return match_any(tag);
    expected_entry** link = resident_[0].find(tag);
    expected_entry* entry = *link;
    if (entry == nullptr) return nullptr;
    order_.fetch_after(entry->sequence);
    resident_[0].take(link);
    ++gone_;
    return entry;
}

expected_entry* expected_queue::match_any(std::uint64_t tag) noexcept {
    table* from = nullptr;
    expected_entry** earliest = nullptr;
    for (std::size_t i = 0; i < used_; ++i) {
        table& candidate = at(i);
        if (candidate.empty()) continue;
        expected_entry** link = candidate.find(tag);
        if (*link == nullptr) continue;
        if (earliest != nullptr && (*earliest)->sequence < (*link)->sequence) continue;
        from = &candidate;
        earliest = link;
    }
    if (loose_ != nullptr) [[unlikely]] {
        expected_entry** link = find_loose(tag);
        expected_entry* entry = *link;
        if (entry != nullptr && (earliest == nullptr || entry->sequence < (*earliest)->sequence)) {
            *link = entry->links.newer;
            ++gone_;
            trim();
            return entry;
        }
    }
    if (earliest == nullptr) return nullptr;
    expected_entry* entry = *earliest;
    order_.fetch_after(entry->sequence);
    from->take(earliest);
    ++gone_;
    if (from->empty()) trim();
    return entry;
}

void expected_queue::remove(expected_entry& entry) noexcept {
    if (lone_ == &entry) {
        lone_ = nullptr;
        ++gone_;
        return;
    }
    if (loose_ != nullptr && remove_loose(entry)) {
        ++gone_;
        trim();
        return;
    }
    table& from = table_of(entry.mask);
    from.remove(entry);
    ++gone_;
    if (from.empty()) trim();
}

// Drops empty tables at the end from the search.
void expected_queue::trim() noexcept {
    const std::size_t least = loose_ == nullptr ? 1 : 2;
    while (used_ > least && at(used_ - 1).empty()) {
        --used_;
        if (last_ == &at(used_)) last_ = &resident_[0];
    }
}

}  // namespace ucp::tag
