#include "test/cuda/driver/pool.hpp"

#include <algorithm>
#include <map>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/handle.hpp"

namespace standin {
namespace {

using pool_ref = std::shared_ptr<pool>;

struct state {
    std::map<CUmemoryPool, pool_ref> pools;
    std::map<const device*, pool_ref> defaults;
};

state& table() {
    static state& only = *new state;
    return only;
}

pool_ref make_pool(device& on, unsigned handle_types, bool is_default) {
    auto made = std::make_shared<pool>(make_handle<CUmemoryPool>(), on, handle_types, is_default);
    table().pools[made->handle] = made;
    return made;
}

pool_ref default_pool(device& on) {
    pool_ref& found = table().defaults[&on];
    if (found == nullptr) found = make_pool(on, 0, true);
    return found;
}

pool_ref find_pool(CUmemoryPool handle) {
    const auto found = table().pools.find(handle);
    check_argument(found != table().pools.end(), "no pool has this handle");
    return found->second;
}

// The pool keeps as much as this. The rest is unmapped, and faults.
constexpr std::size_t most_kept = 8;

void unmap_kept(const kept_memory& dropped) {
    unmap_addresses(dropped.base, dropped.length);
    address_space::give_back(dropped.base, dropped.length);
}

// A stream may use what it has freed at once, before the operation that frees it has run.
bool is_usable(const kept_memory& asked, const stream& by_stream) {
    return asked.freed.on.get() == &by_stream || asked.freed.is_done();
}

// Returns false if the pool keeps no memory that fits.
bool reuse(pool& source, allocation& made, std::size_t length, const stream& by_stream) {
    const auto found =
        std::find_if(source.kept.begin(), source.kept.end(), [&](const kept_memory& each) {
            return each.length == length && is_usable(each, by_stream);
        });
    if (found == source.kept.end()) return false;
    made.base = found->base;
    made.mapped_base = found->base;
    made.mapped_length = length;
    made.memory = found->memory;
    source.kept.erase(found);
    return true;
}

CUdeviceptr allocate(const pool_ref& source, std::size_t length, const stream_ref& order) {
    check_argument(length > 0, "the length is 0");
    if (length > source->on.total_bytes)
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the device has less memory");
    const std::size_t mapped = (length + device_page - 1) / device_page * device_page;
    const allocation_ref made = make_allocation(memory_kind::pool, 0, length, nullptr, source->on);
    if (!reuse(*source, *made, mapped, *order)) map_block(*made, block::create(source->on, mapped));
    made->source = source;
    made->ready = enqueue(order, {});
    add_allocation(made);
    return made->base;
}

void free_in_order(CUdeviceptr address, const stream_ref& order) {
    const allocation_ref dying = find_allocation(address);
    check_argument(dying != nullptr && dying->base == address && dying->kind == memory_kind::pool,
                   "no allocation of a pool begins here");
    // The program may not use it any more, but operations that are queued may.
    forget_allocation(*dying);
    operation added;
    added.finish = [dying] { dying->is_freed = true; };
    release_pool_memory(*dying, enqueue(order, std::move(added)));
}

// Default streams need a current context; others name theirs.
pool_ref default_pool_for(const stream& order) {
    return default_pool(order.owner->on);
}

}  // namespace

pool::~pool() {
    for (const kept_memory& each : kept)
        unmap_kept(each);
}

void release_pool_memory(const allocation& removed, const marker& freed) {
    auto& kept = removed.source->kept;
    kept.push_front({removed.mapped_base, removed.mapped_length, removed.memory, freed});
    if (kept.size() <= most_kept || !kept.back().freed.is_done()) return;
    unmap_kept(kept.back());
    kept.pop_back();
}

void for_each_pool(const std::function<void(const pool&)>& visitor) {
    for (const auto& [handle, each] : table().pools)
        if (!each->is_default) visitor(*each);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* handle, CUdevice ordinal) {
    return call(function::cuDeviceGetDefaultMemPool, [&](held_lock&) {
        check_pointer(handle);
        *handle = default_pool(find_device(ordinal))->handle;
    });
}

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
    return call(function::cuMemPoolCreate, [&](held_lock&) {
        check_pointer(handle);
        check_pointer(properties);
        check_argument(properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED,
                       "the type of memory must be pinned");
        if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            fail(CUDA_ERROR_NOT_SUPPORTED, "pools are of devices alone");
        constexpr int known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        if ((properties->handleTypes & ~known) != 0)
            fail(CUDA_ERROR_NOT_SUPPORTED, "handles are file descriptors alone");
        *handle = make_pool(find_device(properties->location.id),
                            static_cast<unsigned>(properties->handleTypes), false)
                      ->handle;
    });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    return call(function::cuMemPoolDestroy, [&](held_lock&) {
        check_argument(!find_pool(handle)->is_default, "a default pool cannot be destroyed");
        table().pools.erase(handle);
    });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t length, CUstream order) {
    return call(function::cuMemAllocAsync, [&](held_lock&) {
        check_pointer(address);
        const stream_ref found = find_stream(order);
        *address = allocate(default_pool_for(*found), length, found);
    });
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, std::size_t length, CUstream order) {
    return call(function::cuMemAllocAsync_ptsz, [&](held_lock&) {
        check_pointer(address);
        const stream_ref found = find_stream_per_thread(order);
        *address = allocate(default_pool_for(*found), length, found);
    });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t length, CUmemoryPool source,
                                 CUstream order) {
    return call(function::cuMemAllocFromPoolAsync, [&](held_lock&) {
        check_pointer(address);
        *address = allocate(find_pool(source), length, find_stream(order));
    });
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, std::size_t length, CUmemoryPool source,
                                      CUstream order) {
    return call(function::cuMemAllocFromPoolAsync_ptsz, [&](held_lock&) {
        check_pointer(address);
        *address = allocate(find_pool(source), length, find_stream_per_thread(order));
    });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream order) {
    return call(function::cuMemFreeAsync,
                [&](held_lock&) { free_in_order(address, find_stream(order)); });
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream order) {
    return call(function::cuMemFreeAsync_ptsz,
                [&](held_lock&) { free_in_order(address, find_stream_per_thread(order)); });
}

}  // namespace standin
