#include "ucp/tag/match/expected.hpp"

namespace ucp::tag {

expected_queue::table& expected_queue::table_of(std::uint64_t mask) noexcept {
    std::size_t i = 0;
    while (at(i).mask() != mask)
        ++i;
    return at(i);
}

// Finds the table of a mask for add, or gives it one: an empty one, so that programs that change
// between masks without having two posted at once stay with one table.
void expected_queue::select(std::uint64_t mask) noexcept {
    table* unused = nullptr;
    for (std::size_t i = 0; i < used_; ++i) {
        table& candidate = at(i);
        if (candidate.mask() == mask) {
            last_ = &candidate;
            return;
        }
        if (candidate.empty() && unused == nullptr) unused = &candidate;
    }
    if (unused == nullptr) {
        if (used_ == resident + more_.size()) more_.push_back(std::make_unique<table>());
        unused = &at(used_++);
    }
    unused->set_mask(mask);
    last_ = unused;
}

expected_entry* expected_queue::match_any(std::uint64_t tag) noexcept {
    table* from = nullptr;
    expected_entry** earliest = nullptr;
    for (std::size_t i = 0; i < used_; ++i) {
        table& candidate = at(i);
        if (candidate.empty()) continue;
        expected_entry** place = candidate.find(tag);
        if (*place == nullptr) continue;
        if (earliest != nullptr && (*earliest)->sequence < (*place)->sequence) continue;
        from = &candidate;
        earliest = place;
    }
    if (earliest == nullptr) return nullptr;
    expected_entry* entry = *earliest;
    from->take(earliest);
    ++gone_;
    if (from->empty()) trim();
    return entry;
}

void expected_queue::remove(expected_entry& entry) noexcept {
    table& from = table_of(entry.mask);
    from.remove(entry);
    ++gone_;
    if (from.empty()) trim();
}

// Stops looking into tables at the end that have become empty.
void expected_queue::trim() noexcept {
    while (used_ > 1 && at(used_ - 1).empty()) {
        --used_;
        if (last_ == &at(used_)) last_ = &resident_[0];
    }
}

}  // namespace ucp::tag
