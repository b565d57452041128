#include "test/cuda/driver/device_memory.hpp"

#include <algorithm>
#include <list>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/ipc.hpp"
#include "test/cuda/driver/pool.hpp"

namespace standin {
namespace {

// Longer allocations have blocks of their own.
constexpr std::size_t longest_shared = device_page / 2;

// The most memory of a new allocation that is filled with a pattern: the rest stays without pages.
constexpr std::size_t longest_scribble = std::size_t{1} << 20U;

struct hole {
    std::size_t offset;
    std::size_t length;
};

// A block that small allocations of a context share.
struct shared_block {
    std::uint64_t owner;  // the id of the context
    std::uint64_t base;
    std::shared_ptr<block> memory;
    // The latest freed hole is first: its addresses are used again at once.
    std::list<hole> holes;
};

std::list<shared_block>& shared_blocks() {
    static auto& only = *new std::list<shared_block>;
    return only;
}

std::size_t rounded(std::size_t length, std::size_t step) {
    return (length + step - 1) / step * step;
}

// Puts the allocation into a hole of the block. Returns false if it does not fit.
bool place_in(shared_block& shared, allocation& placed) {
    const std::size_t needed = rounded(placed.length, allocation_step);
    const auto found = std::find_if(shared.holes.begin(), shared.holes.end(),
                                    [&](const hole& each) { return each.length >= needed; });
    if (found == shared.holes.end()) return false;
    placed.base = shared.base + found->offset;
    placed.offset = found->offset;
    placed.mapped_base = shared.base;
    placed.mapped_length = device_page;
    placed.memory = shared.memory;
    found->offset += needed;
    found->length -= needed;
    if (found->length == 0) shared.holes.erase(found);
    return true;
}

void place_small(allocation& placed) {
    for (shared_block& each : shared_blocks())
        if (each.owner == placed.owner->id && place_in(each, placed)) return;
    map_block(placed, block::create(*placed.on, device_page));
    shared_blocks().push_front({placed.owner->id, placed.base, placed.memory, {{0, device_page}}});
    place_in(shared_blocks().front(), placed);
}

// Joins the hole with its neighbours.
void add_hole(shared_block& shared, hole added) {
    for (auto each = shared.holes.begin(); each != shared.holes.end();) {
        const bool is_before = each->offset + each->length == added.offset;
        const bool is_after = added.offset + added.length == each->offset;
        if (!is_before && !is_after) {
            ++each;
            continue;
        }
        added = {std::min(added.offset, each->offset), added.length + each->length};
        each = shared.holes.erase(each);
    }
    shared.holes.push_front(added);
}

// Returns false if the allocation has a block of its own.
bool release_small(const allocation& removed) {
    const auto shared =
        std::find_if(shared_blocks().begin(), shared_blocks().end(),
                     [&](const shared_block& each) { return each.memory == removed.memory; });
    if (shared == shared_blocks().end()) return false;
    add_hole(*shared, {removed.offset, rounded(removed.length, allocation_step)});
    if (shared->holes.front().length == device_page) {
        unmap_block(removed);
        shared_blocks().erase(shared);
    }
    return true;
}

// Tells importers whether the allocation lives.
std::atomic<std::uint64_t>& live_entry(const allocation& placed) {
    return placed.memory->trailer().live[placed.offset / allocation_step];
}

CUdeviceptr allocate(std::size_t length) {
    check_argument(length > 0, "the length is 0");
    const context_ref owner = current_context();
    // A length that does not fit the device would overflow when it is rounded.
    if (length > owner->on.total_bytes)
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the device has less memory");
    const allocation_ref made = make_allocation(memory_kind::device, 0, length, owner, owner->on);
    if (length <= longest_shared) {
        place_small(*made);
    } else {
        map_block(*made, block::create(owner->on, rounded(length, device_page)));
    }
    live_entry(*made) = made->buffer_id;
    scribble(made->bytes_at(made->base), std::min(length, longest_scribble));
    add_allocation(made);
    return made->base;
}

allocation_ref find_freeable(CUdeviceptr address) {
    const allocation_ref found = find_allocation(address);
    const bool is_freeable =
        found != nullptr && found->base == address &&
        (found->kind == memory_kind::device || found->kind == memory_kind::managed ||
         found->kind == memory_kind::pool);
    check_argument(is_freeable, "no allocation that cuMemFree frees begins here");
    return found;
}

}  // namespace

void release_device_memory(const allocation& removed) {
    if (removed.kind == memory_kind::imported) {
        release_imported(removed);
        return;
    }
    if (removed.kind == memory_kind::device) live_entry(removed) = 0;
    if (!release_small(removed)) unmap_block(removed);
}

void drain_for_free(held_lock& lock, const allocation& dying) {
    const context_ref current = current_context_even_broken();
    const context_ref owner = dying.owner;
    drain(lock, *current);
    if (owner != nullptr && owner != current) drain(lock, *owner);
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t length) {
    return call(function::cuMemAlloc_v2, [&](held_lock&) {
        check_pointer(address);
        *address = allocate(length);
    });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element_size) {
    return call(function::cuMemAllocPitch_v2, [&](held_lock&) {
        check_pointer(address);
        check_pointer(pitch);
        check_argument(element_size == 4 || element_size == 8 || element_size == 16,
                       "the size of an element must be 4, 8 or 16");
        *pitch = rounded(width, allocation_step);
        *address = allocate(*pitch * height);
    });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t length, unsigned flags) {
    return call(function::cuMemAllocManaged, [&](held_lock&) {
        constexpr unsigned attach_host = 2;
        check_pointer(address);
        check_argument(length > 0, "the length is 0");
        check_argument(flags == CU_MEM_ATTACH_GLOBAL || flags == attach_host,
                       "the flags must be CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST");
        const context_ref owner = current_context();
        if (length > owner->on.total_bytes)
            fail(CUDA_ERROR_OUT_OF_MEMORY, "the device has less memory");
        const allocation_ref made =
            make_allocation(memory_kind::managed, 0, length, owner, owner->on);
        map_block(*made, block::create(owner->on, rounded(length, device_page)), true);
        add_allocation(made);
        *address = made->base;
    });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    return call(function::cuMemFree_v2, [&](held_lock& lock) {
        const context_ref current = current_context_even_broken();
        if (address == 0) return;
        allocation_ref dying = find_freeable(address);
        if (dying->kind == memory_kind::pool) {
            remove_allocation(*dying);
            release_pool_memory(*dying, {});
        } else {
            drain_for_free(lock, *dying);
            // Meanwhile, another thread may have freed it.
            dying = find_freeable(address);
            remove_allocation(*dying);
            release_device_memory(*dying);
        }
        check_works(*current);
    });
}

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return call(function::cuMemGetInfo_v2, [&](held_lock&) {
        check_pointer(free);
        check_pointer(total);
        const device& on = current_context()->on;
        *total = on.total_bytes;
        *free = on.total_bytes - on.used_bytes;
    });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* length, CUdeviceptr address) {
    return call(function::cuMemGetAddressRange_v2, [&](held_lock&) {
        static_cast<void>(current_context());
        const allocation_ref found = find_allocation(address);
        if (found == nullptr) fail(CUDA_ERROR_NOT_FOUND, "no allocation contains the address");
        if (base != nullptr) *base = found->base;
        if (length != nullptr) *length = found->length;
    });
}

}  // namespace standin
