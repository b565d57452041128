#include "uct/cuda/ipc/mapping_cache.hpp"

#include <string>

namespace uct::cuda {
namespace {

bool overlap(const ipc_key& left, const ipc_key& right) noexcept {
    return left.base < right.base + right.base_length && right.base < left.base + left.base_length;
}

}  // namespace

bool mapping_cache::entry::is_of_same_allocation(const ipc_key& other) const noexcept {
    return key.owner == other.owner && key.buffer_id == other.buffer_id && key.type == other.type &&
           key.base == other.base && key.base_length == other.base_length &&
           key.device == other.device && key.handle == other.handle;
}

mapping_cache::entry* mapping_cache::find_locked(const ipc_key& key) noexcept {
    const auto [begin, end] = by_id_.equal_range({key.owner, key.buffer_id});
    for (auto each = begin; each != end; ++each) {
        if (!each->second->is_of_same_allocation(key)) continue;
        entries_.splice(entries_.end(), entries_, each->second);
        return &*each->second;
    }
    return nullptr;
}

mapping_cache::held mapping_cache::find(const ipc_key& key) {
    const std::lock_guard guard(lock_);
    const entry* const known = find_locked(key);
    ++(known != nullptr ? hits_ : misses_);
    return known != nullptr ? known->memory : nullptr;
}

// Moves an entry to another list, whose destruction unmaps the memory outside of the lock.
void mapping_cache::remove(entries::iterator gone, entries& into) noexcept {
    const auto [begin, end] = by_id_.equal_range({gone->key.owner, gone->key.buffer_id});
    for (auto each = begin; each != end; ++each) {
        if (each->second != gone) continue;
        by_id_.erase(each);
        break;
    }
    into.splice(into.end(), entries_, gone);
    ++dropped_;
}

template<class Condition>
void mapping_cache::drop_if(const Condition& is_dropped) noexcept {
    entries gone;
    const std::lock_guard guard(lock_);
    for (auto each = entries_.begin(); each != entries_.end();) {
        const auto current = each++;
        if (is_dropped(*current)) remove(current, gone);
    }
}

mapping_cache::held mapping_cache::add(const ipc_key& key, std::unique_ptr<mapping> made) {
    const held fresh(std::move(made));
    if (most_ == 0) return fresh;
    entries gone;
    const std::lock_guard guard(lock_);
    if (const entry* const known = find_locked(key); known != nullptr) return known->memory;
    entries added;
    added.push_back({key, fresh});
    by_id_.emplace(id{key.owner, key.buffer_id}, added.begin());
    entries_.splice(entries_.end(), added);
    for (auto each = entries_.begin(); entries_.size() > most_ && each != entries_.end();) {
        const auto current = each++;
        if (!current->is_used()) remove(current, gone);
    }
    return fresh;
}

void mapping_cache::drop_outdated(const ipc_key& key) noexcept {
    drop_if([&](const entry& each) {
        return each.key.owner == key.owner && overlap(each.key, key) &&
               !each.is_of_same_allocation(key);
    });
}

void mapping_cache::drop_unused(std::uint64_t owner) noexcept {
    drop_if([&](const entry& each) { return each.key.owner == owner && !each.is_used(); });
}

void mapping_cache::describe(ucs::vfs::directory& into) const {
    const auto number = [this, &into](const char* name, const std::uint64_t& value) {
        into.file(name, [this, &value] {
            const std::lock_guard guard(lock_);
            return std::to_string(value);
        });
    };
    into.file("mappings", [this] {
        const std::lock_guard guard(lock_);
        return std::to_string(entries_.size());
    });
    number("hits", hits_);
    number("misses", misses_);
    number("dropped", dropped_);
}

}  // namespace uct::cuda
