#include "test/cuda/driver/virtual_memory.hpp"

#include <fcntl.h>

#include <map>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/handle.hpp"
#include "test/cuda/driver/open_memory.hpp"

namespace standin {
namespace {

using handle_ref = std::shared_ptr<allocation_handle>;

struct state {
    std::map<CUmemGenericAllocationHandle, handle_ref> handles;
    std::map<std::uint64_t, reservation> reservations;
};

state& table() {
    static state& only = *new state;
    return only;
}

bool is_multiple(std::uint64_t value) noexcept {
    return value % device_page == 0;
}

handle_ref find_handle(CUmemGenericAllocationHandle number) {
    const auto found = table().handles.find(number);
    check_argument(found != table().handles.end(), "no allocation has this handle");
    return found->second;
}

CUmemGenericAllocationHandle add_handle(std::shared_ptr<block> memory, unsigned handle_types) {
    const CUmemGenericAllocationHandle number = 0x6a00'0000'0000'0000U + unique_number() * 16;
    table().handles[number] = std::make_shared<allocation_handle>(
        allocation_handle{number, std::move(memory), handle_types, 1});
    return number;
}

device& check_properties(const CUmemAllocationProp* properties) {
    check_pointer(properties);
    check_argument(properties->type == CU_MEM_ALLOCATION_TYPE_PINNED,
                   "the type of memory must be pinned");
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        fail(CUDA_ERROR_NOT_SUPPORTED, "allocation handles are of devices alone");
    constexpr int known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if ((properties->requestedHandleTypes & ~known) != 0)
        fail(CUDA_ERROR_NOT_SUPPORTED, "shareable handles are file descriptors alone");
    return find_device(properties->location.id);
}

// The mappings that fill a range. Fails if there are gaps, or if one lies in it partially.
std::vector<allocation_ref> mappings_in(std::uint64_t address, std::size_t length) {
    check_argument(length > 0 && is_multiple(address) && is_multiple(length),
                   "address and length must be multiples of the granularity");
    std::vector<allocation_ref> found;
    const std::uint64_t end = address + length;
    while (address < end) {
        const allocation_ref each = find_allocation(address);
        const bool is_whole = each != nullptr && each->kind == memory_kind::mapping &&
                              each->base == address && each->length <= end - address;
        check_argument(is_whole, "the range does not consist of whole mappings");
        found.push_back(each);
        address += each->length;
    }
    return found;
}

const reservation& find_reserved(std::uint64_t address, std::size_t length) {
    const reservation* const found = find_reservation(address);
    check_argument(found != nullptr && length <= found->base + found->length - address,
                   "the range is not part of one reservation");
    return *found;
}

void give_access(allocation& mapping, const CUmemAccessDesc& access) {
    check_argument(access.location.type == CU_MEM_LOCATION_TYPE_DEVICE,
                   "devices alone can be given access");
    const device& user = find_device(access.location.id);
    if (access.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
        mapping.accessible_from.erase(user.ordinal);
        return;
    }
    if (&user != mapping.on && !can_access_peer(user, *mapping.on))
        fail(CUDA_ERROR_INVALID_DEVICE, "the devices cannot access each other");
    mapping.accessible_from.insert(user.ordinal);
    open_for_running_kernels(mapping);
}

}  // namespace

const reservation* find_reservation(std::uint64_t address) {
    const auto next = table().reservations.upper_bound(address);
    if (next == table().reservations.begin()) return nullptr;
    const reservation& found = std::prev(next)->second;
    return address - found.base < found.length ? &found : nullptr;
}

void for_each_reservation(const std::function<void(const reservation&)>& visitor) {
    for (const auto& [base, each] : table().reservations)
        visitor(each);
}

void for_each_allocation_handle(const std::function<void(const allocation_handle&)>& visitor) {
    for (const auto& [number, each] : table().handles)
        visitor(*each);
}

CUresult cuMemGetAllocationGranularity(std::size_t* granularity,
                                       const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
    return call(function::cuMemGetAllocationGranularity, [&](held_lock&) {
        check_pointer(granularity);
        check_properties(properties);
        *granularity = device_page;
    });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t length,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
    return call(function::cuMemCreate, [&](held_lock&) {
        check_pointer(handle);
        device& on = check_properties(properties);
        check_argument(flags == 0, "the flags must be 0");
        check_argument(length > 0 && is_multiple(length),
                       "the length must be a multiple of the granularity");
        *handle = add_handle(block::create(on, length),
                             static_cast<unsigned>(properties->requestedHandleTypes));
    });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return call(function::cuMemRelease, [&](held_lock&) {
        if (--find_handle(handle)->references == 0) table().handles.erase(handle);
    });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t length, std::size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags) {
    return call(function::cuMemAddressReserve, [&](held_lock&) {
        check_pointer(address);
        check_argument(flags == 0, "the flags must be 0");
        check_argument(length > 0 && is_multiple(length),
                       "the length must be a multiple of the granularity");
        check_argument((alignment & (alignment - 1)) == 0, "the alignment is no power of two");
        const bool is_coarse = alignment > device_page;
        const std::uint64_t base = address_space::take(length, is_coarse ? alignment : 0,
                                                       is_multiple(wanted) ? wanted : 0);
        table().reservations[base] = {base, length};
        *address = base;
    });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t length) {
    return call(function::cuMemAddressFree, [&](held_lock&) {
        const auto found = table().reservations.find(address);
        check_argument(found != table().reservations.end() && found->second.length == length,
                       "this is not a whole reservation");
        check_argument(find_overlap(address, length) == nullptr, "memory is mapped here");
        address_space::give_back(address, length);
        table().reservations.erase(found);
    });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t length, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return call(function::cuMemMap, [&](held_lock&) {
        check_argument(flags == 0 && offset == 0, "the flags and the offset must be 0");
        check_argument(length > 0 && is_multiple(address) && is_multiple(length),
                       "address and length must be multiples of the granularity");
        const handle_ref mapped = find_handle(handle);
        check_argument(length <= mapped->memory->length(), "the allocation is shorter");
        const reservation& around = find_reserved(address, length);
        check_argument(find_overlap(address, length) == nullptr, "memory is mapped here already");
        address_space::map(address, length, mapped->memory->file(), 0, false);
        const allocation_ref made =
            make_allocation(memory_kind::mapping, address, length, nullptr, mapped->memory->on());
        made->memory = mapped->memory;
        made->mapped_base = address;
        made->mapped_length = length;
        made->handle = mapped;
        made->reserved_base = around.base;
        made->reserved_length = around.length;
        add_allocation(made);
    });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t length) {
    return call(function::cuMemUnmap, [&](held_lock&) {
        for (const allocation_ref& each : mappings_in(address, length)) {
            remove_allocation(*each);
            unmap_addresses(each->mapped_base, each->mapped_length);
        }
    });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t length, const CUmemAccessDesc* access,
                        std::size_t count) {
    return call(function::cuMemSetAccess, [&](held_lock&) {
        check_pointer(access);
        for (const allocation_ref& each : mappings_in(address, length))
            for (std::size_t index = 0; index < count; ++index)
                give_access(*each, access[index]);
    });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    return call(function::cuMemExportToShareableHandle, [&](held_lock&) {
        check_pointer(shareable);
        check_argument(flags == 0, "the flags must be 0");
        const handle_ref exported = find_handle(handle);
        if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
            fail(CUDA_ERROR_NOT_SUPPORTED, "shareable handles are file descriptors alone");
        check_argument((exported->handle_types & static_cast<unsigned>(type)) != 0,
                       "the memory was not created for this type of handle");
        const int file = ::fcntl(exported->memory->file(), F_DUPFD_CLOEXEC, 0);
        if (file < 0) fail(CUDA_ERROR_OUT_OF_MEMORY, "the process has no file descriptor left");
        *static_cast<int*>(shareable) = file;
    });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
    return call(function::cuMemImportFromShareableHandle, [&](held_lock&) {
        check_pointer(handle);
        if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
            fail(CUDA_ERROR_NOT_SUPPORTED, "shareable handles are file descriptors alone");
        // The descriptor itself is passed in place of a pointer, and stays the caller's.
        const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
        *handle = add_handle(block::import(file), static_cast<unsigned>(type));
    });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    return call(function::cuMemRetainAllocationHandle, [&](held_lock&) {
        check_pointer(handle);
        const allocation_ref found = find_allocation(reinterpret_cast<std::uint64_t>(address));
        check_argument(found != nullptr && found->kind == memory_kind::mapping,
                       "no mapping of an allocation handle is here");
        ++found->handle->references;
        // The handle may have been released while its mapping remained.
        table().handles[found->handle->number] = found->handle;
        *handle = found->handle->number;
    });
}

}  // namespace standin
