#include "test/cuda/driver/range.hpp"

#include <algorithm>
#include <cstring>

#include "test/cuda/driver/address_space.hpp"

namespace standin {
namespace {

void check_access(const allocation& used, const context& user) {
    check_argument(
        used.kind != memory_kind::mapping || used.accessible_from.contains(user.on.ordinal),
        "cuMemSetAccess gives the context's device no access to this mapping");
}

// A range may extend over adjacent mappings, but not over adjacent allocations.
memory_range resolve_device(std::uint64_t address, std::size_t length, const context& user) {
    memory_range range;
    range.is_device = true;
    while (length > 0) {
        const allocation_ref found = find_allocation(address);
        check_argument(found != nullptr, "no memory is at this address of a device");
        check_access(*found, user);
        const std::size_t part = std::min(length, found->base + found->length - address);
        check_argument(part == length || found->kind == memory_kind::mapping,
                       "the range ends behind its allocation");
        range.is_managed = found->kind == memory_kind::managed;
        range.has_sync_memops = range.has_sync_memops || found->has_sync_memops;
        range.pieces.push_back({found, found->bytes_at(address), part});
        address += part;
        length -= part;
    }
    return range;
}

bool is_alive(const allocation& used) noexcept {
    return !used.is_freed && (used.live == nullptr || *used.live == used.live_id);
}

}  // namespace

memory_range resolve(std::uint64_t address, std::size_t length, const context& user) {
    check_argument(address != 0, "the address is null");
    if (address_space::contains(address)) return resolve_device(address, length, user);
    memory_range range;
    const allocation_ref found = find_allocation(address);
    range.is_pageable = found == nullptr;
    check_argument(found == nullptr || length <= found->base + found->length - address,
                   "the range begins in pinned memory and ends behind it");
    range.pieces.push_back({found, reinterpret_cast<char*>(address), length});
    return range;
}

void check_not_freed(const memory_range& used) {
    for (const piece& each : used.pieces)
        if (each.source != nullptr && !is_alive(*each.source))
            fail(CUDA_ERROR_ILLEGAL_ADDRESS, "memory was freed before the operation used it");
}

void check_usable(const memory_range& used, const stream& user) {
    check_not_freed(used);
    for (const piece& each : used.pieces) {
        if (each.source == nullptr) continue;
        const marker& ready = each.source->ready;
        if (ready.on.get() != &user && !ready.is_done())
            fail(CUDA_ERROR_ILLEGAL_ADDRESS, "another stream has not allocated the memory yet");
    }
}

bool overlap(const memory_range& first, const memory_range& second) noexcept {
    for (const piece& one : first.pieces)
        for (const piece& other : second.pieces)
            if (one.bytes < other.bytes + other.length && other.bytes < one.bytes + one.length)
                return true;
    return false;
}

void copy_bytes(const memory_range& to, const memory_range& from) {
    std::size_t to_index = 0;
    std::size_t from_index = 0;
    std::size_t to_offset = 0;
    std::size_t from_offset = 0;
    while (to_index < to.pieces.size() && from_index < from.pieces.size()) {
        const piece& target = to.pieces[to_index];
        const piece& source = from.pieces[from_index];
        const std::size_t part = std::min(target.length - to_offset, source.length - from_offset);
        std::memmove(target.bytes + to_offset, source.bytes + from_offset, part);
        to_offset += part;
        from_offset += part;
        if (to_offset == target.length) {
            ++to_index;
            to_offset = 0;
        }
        if (from_offset == source.length) {
            ++from_index;
            from_offset = 0;
        }
    }
}

}  // namespace standin
