// Attributes of addresses.
#include <cstring>

#include "test/cuda/driver/address_space.hpp"
#include "test/cuda/driver/pool.hpp"
#include "test/cuda/driver/settings.hpp"
#include "test/cuda/driver/virtual_memory.hpp"

namespace standin {
namespace {

// The value of an attribute, and the number of bytes that the driver writes.
struct attribute_value {
    std::uint64_t bits;
    std::size_t size;
};

attribute_value address_value(const void* value) {
    return {reinterpret_cast<std::uint64_t>(value), 8};
}
// The driver writes truth values as int where the attribute is old, and as one byte where it is
// new.
attribute_value old_boolean(bool value) {
    return {value ? 1U : 0U, 4};
}
attribute_value new_boolean(bool value) {
    return {value ? 1U : 0U, 1};
}

std::size_t size_of(CUpointer_attribute attribute) {
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return 4;
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_MAPPED:
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            return 1;
        default:
            return 8;
    }
}

bool is_accessible_by_host(const allocation& asked) {
    return asked.is_host() || asked.kind == memory_kind::managed;
}

std::uint64_t handle_types_of(const allocation& asked) {
    if (asked.handle != nullptr) return asked.handle->handle_types;
    return asked.source != nullptr ? asked.source->handle_types : 0;
}

attribute_value memory_type_of(const allocation& asked) {
    return {static_cast<std::uint64_t>(asked.is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE),
            4};
}

attribute_value device_pointer_of(std::uint64_t address) {
    static_cast<void>(current_context());
    return {address, 8};
}

attribute_value value_of(const allocation& asked, CUpointer_attribute attribute,
                         std::uint64_t address) {
    const bool is_mapping = asked.kind == memory_kind::mapping;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            return address_value(asked.owner == nullptr ? nullptr : asked.owner->handle);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return memory_type_of(asked);
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return device_pointer_of(address);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            check_argument(is_accessible_by_host(asked), "the host cannot access the memory");
            return {address, 8};
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return old_boolean(asked.has_sync_memops);
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            return {asked.buffer_id, 8};
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return old_boolean(asked.kind == memory_kind::managed);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return {static_cast<std::uint64_t>(asked.on->ordinal), 4};
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
            return new_boolean(asked.kind == memory_kind::device);
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return {is_mapping ? asked.reserved_base : asked.base, 8};
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return {is_mapping ? asked.reserved_length : asked.length, 8};
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return new_boolean(true);
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            return {handle_types_of(asked), 8};
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            return new_boolean(options().has_dma_buf && !is_accessible_by_host(asked));
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            check_argument(asked.source != nullptr, "the memory is not of a pool");
            return address_value(asked.source->handle);
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
            return {asked.length, 8};
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            return {asked.base, 8};
    }
    fail(CUDA_ERROR_INVALID_VALUE, "there is no such attribute");
}

// Addresses that are reserved, but have no memory.
attribute_value value_of_reserved(const reservation& asked, CUpointer_attribute attribute) {
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return {asked.base, 8};
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return {asked.length, 8};
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return new_boolean(false);
        default:
            fail(CUDA_ERROR_INVALID_VALUE, "no memory is mapped here");
    }
}

attribute_value value_at(CUpointer_attribute attribute, std::uint64_t address) {
    if (const allocation_ref found = find_allocation(address); found != nullptr)
        return value_of(*found, attribute, address);
    if (const reservation* const found = find_reservation(address); found != nullptr)
        return value_of_reserved(*found, attribute);
    fail(CUDA_ERROR_INVALID_VALUE, "the driver does not know the address");
}

void store(void* into, const attribute_value& value) {
    std::memcpy(into, &value.bits, value.size);
}

// Several attributes of one address are no error where they have no value.
attribute_value value_or_zero(CUpointer_attribute attribute, std::uint64_t address) {
    try {
        return value_at(attribute, address);
    } catch (const failure& refused) {
        if (refused.error != CUDA_ERROR_INVALID_VALUE) throw;
        return {0, size_of(attribute)};
    }
}

bool has_sync_memops_attribute(const allocation& asked) {
    return asked.kind == memory_kind::device || asked.kind == memory_kind::mapping ||
           asked.kind == memory_kind::imported;
}

}  // namespace

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
    return call(function::cuPointerGetAttribute, [&](held_lock&) {
        check_pointer(value);
        store(value, value_at(attribute, address));
    });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                CUdeviceptr address) {
    return call(function::cuPointerGetAttributes, [&](held_lock&) {
        check_argument(count > 0, "no attribute is asked for");
        check_pointer(attributes);
        check_pointer(values);
        for (unsigned index = 0; index < count; ++index)
            store(values[index], value_or_zero(attributes[index], address));
    });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
    return call(function::cuPointerSetAttribute, [&](held_lock&) {
        check_pointer(value);
        static_cast<void>(current_context());
        check_argument(attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                       "the attribute cannot be set");
        const allocation_ref found = find_allocation(address);
        check_argument(found != nullptr && has_sync_memops_attribute(*found),
                       "this is not memory of a device");
        int wanted = 0;
        std::memcpy(&wanted, value, sizeof wanted);
        found->has_sync_memops = wanted != 0;
    });
}

}  // namespace standin
