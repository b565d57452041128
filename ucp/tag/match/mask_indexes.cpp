#include "ucp/tag/match/mask_indexes.hpp"

#include <algorithm>

#include "ucp/tag/match/unexpected.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp::tag {

bool mask_index::refill() noexcept {
    // Block sizes double, so that the number of blocks stays small for any length of the queue.
    const std::size_t count = std::size_t{64} << std::min<std::size_t>(blocks_.size(), 10);
    if (!ucs::allocated([&] { blocks_.push_back(std::make_unique<mask_node[]>(count)); }))
        return false;
    for (std::size_t i = 0; i < count; ++i) {
        mask_node& node = blocks_.back()[i];
        node.owner = this;
        node.sibling = free_;
        free_ = &node;
    }
    return true;
}

bool mask_index::add(unexpected_entry& entry) noexcept {
    if (free_ == nullptr && !refill()) return false;
    mask_node& node = *free_;
    free_ = node.sibling;
    node.tag = entry.tag;
    node.entry = &entry;
    node.sibling = entry.nodes;
    entry.nodes = &node;
    table_.add(node);
    ++idle_;
    return true;
}

void mask_index::release(mask_node& node) noexcept {
    table_.remove(node);
    node.sibling = free_;
    free_ = &node;
}

unexpected_entry* mask_index::first(std::uint64_t tag) noexcept {
    idle_ = 0;
    const mask_node* node = *table_.find(tag);
    return node == nullptr ? nullptr : node->entry;
}

mask_index* mask_indexes::find(std::uint64_t mask) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        if (indexes_[i]->mask() == mask) return indexes_[i].get();
    }
    return nullptr;
}

void mask_indexes::add(unexpected_entry& entry, std::size_t queued) noexcept {
    const std::size_t idle_limit = 1024 + 4 * queued;
    for (std::size_t i = count_; i-- > 0;) {
        mask_index& index = *indexes_[i];
        if (index.idle() > idle_limit || !index.add(entry)) drop(index);
    }
}

void mask_indexes::remove(unexpected_entry& entry) noexcept {
    while (mask_node* node = entry.nodes) {
        entry.nodes = node->sibling;
        node->owner->release(*node);
    }
}

// A lookup that ends early is cheap for any length of the list, so only steps beyond the free ones
// count. Building an index costs about as much as walking the list twice.
bool mask_indexes::account(std::uint64_t mask, std::size_t steps, std::size_t queued) noexcept {
    if (queued < long_list || steps <= free_steps) return false;
    effort* note = &efforts_[0];
    for (effort& candidate : efforts_) {
        if (candidate.mask == mask && candidate.steps > 0) {
            note = &candidate;
            break;
        }
        if (candidate.steps < note->steps) note = &candidate;
    }
    if (note->mask != mask) *note = {.mask = mask, .steps = 0};
    note->steps += steps;
    if (note->steps < 2 * queued) return false;
    note->steps = 0;
    return true;
}

mask_index* mask_indexes::make(std::uint64_t mask, std::size_t queued) noexcept {
    if (count_ == limit) {
        mask_index* idlest = indexes_[0].get();
        for (const auto& index : indexes_)
            idlest = index->idle() > idlest->idle() ? index.get() : idlest;
        if (idlest->idle() <= queued) return nullptr;
        drop(*idlest);
    }
    mask_index* fresh = new (std::nothrow) mask_index(mask);
    if (fresh != nullptr) indexes_[count_++].reset(fresh);
    return fresh;
}

void mask_indexes::drop(mask_index& index) noexcept {
    index.for_each([](mask_node& node) {
        mask_node** link = &node.entry->nodes;
        while (*link != &node)
            link = &(*link)->sibling;
        *link = node.sibling;
    });
    const auto position = std::find_if(indexes_.begin(), indexes_.end(),
                                       [&](const auto& each) { return each.get() == &index; });
    std::swap(*position, indexes_[--count_]);
    indexes_[count_].reset();
}

}  // namespace ucp::tag
