// Memory of the host that the driver pins: memory of cuMemHostAlloc, and registered memory.
#include <sys/mman.h>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/device_memory.hpp"
#include "test/cuda/driver/memory.hpp"

namespace standin {
namespace {

constexpr std::size_t host_page = 4096;
constexpr unsigned all_alloc_flags = 0x7;
constexpr unsigned all_register_flags = 0xf;

// The program may watch mmap and munmap, and call the driver when it notices them: the lock is not
// held then.
void* map_host(held_lock& lock, std::size_t length) {
    lock.unlock();
    void* const found =
        ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    lock.lock();
    if (found == MAP_FAILED) fail(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory");
    return found;
}

void* allocate_host(held_lock& lock, std::size_t length) {
    check_argument(length > 0 && length < std::size_t{1} << 46U, "the length is not possible");
    const context_ref owner = current_context();
    const std::size_t mapped = (length + host_page - 1) / host_page * host_page;
    void* const address = map_host(lock, mapped);
    const allocation_ref made = make_allocation(
        memory_kind::pinned, reinterpret_cast<std::uint64_t>(address), length, owner, owner->on);
    made->mapped_length = mapped;
    add_allocation(made);
    return address;
}

// Fails if part of the range is not mapped.
void check_mapped(std::uint64_t begin, std::size_t length) {
    const std::uint64_t first = begin / host_page * host_page;
    check_argument(::msync(reinterpret_cast<void*>(first), begin + length - first, MS_ASYNC) == 0,
                   "part of the range is no memory");
}

allocation_ref find_pinned(std::uint64_t address) {
    const allocation_ref found = find_allocation(address);
    check_argument(found != nullptr && found->base == address && found->kind == memory_kind::pinned,
                   "no allocation of cuMemHostAlloc begins here");
    return found;
}

allocation_ref find_registered(std::uint64_t address) {
    allocation_ref found = find_allocation(address);
    if (found == nullptr || found->base != address || found->kind != memory_kind::registered)
        fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "no registered memory begins here");
    return found;
}

}  // namespace

CUresult cuMemHostAlloc(void** address, std::size_t length, unsigned flags) {
    return call(function::cuMemHostAlloc, [&](held_lock& lock) {
        check_pointer(address);
        check_argument(flags <= all_alloc_flags, "there are no such flags");
        *address = allocate_host(lock, length);
    });
}

CUresult cuMemAllocHost_v2(void** address, std::size_t length) {
    return call(function::cuMemAllocHost_v2, [&](held_lock& lock) {
        check_pointer(address);
        *address = allocate_host(lock, length);
    });
}

CUresult cuMemFreeHost(void* address) {
    return call(function::cuMemFreeHost, [&](held_lock& lock) {
        const context_ref current = current_context_even_broken();
        const auto begin = reinterpret_cast<std::uint64_t>(address);
        drain_for_free(lock, *find_pinned(begin));
        const allocation_ref dying = find_pinned(begin);
        remove_allocation(*dying);
        lock.unlock();
        ::munmap(address, dying->mapped_length);
        lock.lock();
        check_works(*current);
    });
}

CUresult cuMemHostRegister_v2(void* address, std::size_t length, unsigned flags) {
    return call(function::cuMemHostRegister_v2, [&](held_lock&) {
        check_pointer(address);
        check_argument(length > 0, "the length is 0");
        check_argument(flags <= all_register_flags, "there are no such flags");
        const context_ref owner = current_context();
        const auto begin = reinterpret_cast<std::uint64_t>(address);
        check_argument(!address_space::contains(begin), "this is memory of a device");
        check_mapped(begin, length);
        if (find_overlap(begin, length) != nullptr)
            fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                 "part of this memory is pinned already");
        add_allocation(make_allocation(memory_kind::registered, begin, length, owner, owner->on));
    });
}

CUresult cuMemHostUnregister(void* address) {
    return call(function::cuMemHostUnregister, [&](held_lock&) {
        const context_ref current = current_context_even_broken();
        check_pointer(address);
        remove_allocation(*find_registered(reinterpret_cast<std::uint64_t>(address)));
        check_works(*current);
    });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pointer, void* host, unsigned flags) {
    return call(function::cuMemHostGetDevicePointer_v2, [&](held_lock&) {
        check_pointer(pointer);
        check_argument(flags == 0, "the flags must be 0");
        static_cast<void>(current_context());
        const auto address = reinterpret_cast<std::uint64_t>(host);
        const allocation_ref found = find_allocation(address);
        check_argument(found != nullptr && found->is_host(), "this is not pinned memory");
        *pointer = address;
    });
}

}  // namespace standin
