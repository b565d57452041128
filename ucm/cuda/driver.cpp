#include "ucm/cuda/driver.hpp"

#include "ucm/api/ucm.h"
#include "ucm/cuda/driver_api.hpp"
#include "ucm/event/handler_list.hpp"

namespace ucm::cuda {
namespace {

enum function_index : std::size_t {
    index_alloc,
    index_alloc_pitch,
    index_alloc_managed,
    index_alloc_async,
    index_alloc_async_ptsz,
    index_alloc_from_pool,
    index_alloc_from_pool_ptsz,
    index_map,
    index_open,
    index_free,
    index_free_async,
    index_free_async_ptsz,
    index_unmap,
    index_close,
    index_address_range,
    index_pointer_attribute,
    function_count
};
extern hook::replaced_function functions[function_count];

// True while this thread is in a function of the driver that a replacement has called. The driver
// calls its own functions, under its locks; these calls are parts of the one that is reported.
__attribute__((tls_model("initial-exec"))) thread_local constinit bool is_in_driver = false;

// Calls the function that a replacement stands for. A call from inside the driver goes to the
// driver's code and not to the replacement of another library again, which may have led here.
template<class... Parameters>
CUresult call(function_index index, Parameters... arguments) noexcept {
    using type = CUresult (*)(Parameters...);
    const bool was_in_driver = is_in_driver;
    const auto chained = hook::function_at<type>(functions[index].chained);
    const bool is_chained = chained != nullptr && !was_in_driver;
    const auto target = is_chained ? chained : hook::function_at<type>(functions[index].original);
    is_in_driver = true;
    const CUresult result = target(arguments...);
    is_in_driver = was_in_driver;
    return result;
}

bool is_reported(ucm_event_type_t type) noexcept {
    return !is_in_driver && (handlers().wanted() & type) != 0;
}

void report(ucm_event_type_t type, CUdeviceptr address, std::size_t size,
            ucs_memory_type_t memory_type) noexcept {
    ucm_event_t event;
    event.mem_type = {reinterpret_cast<void*>(address), size, memory_type};
    handlers().dispatch(type, event);
}

// Reports memory that a call with this result has allocated.
void report_allocated(CUresult result, const CUdeviceptr* address, std::size_t size,
                      ucs_memory_type_t memory_type = UCS_MEMORY_TYPE_CUDA) noexcept {
    if (result != CUDA_SUCCESS || !is_reported(UCM_EVENT_MEM_TYPE_ALLOC)) return;
    report(UCM_EVENT_MEM_TYPE_ALLOC, *address, size, memory_type);
}

// Returns the bytes from an address to the end of its allocation, or 0 if the driver does not know.
std::size_t size_at(CUdeviceptr address) noexcept {
    const auto query =
        hook::function_at<cuMemGetAddressRange_function>(functions[index_address_range].code);
    CUdeviceptr base = 0;
    std::size_t length = 0;
    if (query == nullptr || query(&base, &length, address) != CUDA_SUCCESS) return 0;
    const CUdeviceptr before = address - base;
    return before < length ? length - before : 0;
}

ucs_memory_type_t type_at(CUdeviceptr address) noexcept {
    const auto query =
        hook::function_at<cuPointerGetAttribute_function>(functions[index_pointer_attribute].code);
    unsigned is_managed = 0;  // drivers write one byte or four
    const bool is_known = query != nullptr && query(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                                    address) == CUDA_SUCCESS;
    return is_known && is_managed != 0 ? UCS_MEMORY_TYPE_CUDA_MANAGED : UCS_MEMORY_TYPE_CUDA;
}

// Reports memory that is about to be freed, and still exists.
void report_freed(CUdeviceptr address) noexcept {
    if (address == 0 || !is_reported(UCM_EVENT_MEM_TYPE_FREE)) return;
    report(UCM_EVENT_MEM_TYPE_FREE, address, size_at(address), type_at(address));
}

CUresult replaced_alloc(CUdeviceptr* address, std::size_t size) noexcept {
    const CUresult result = call(index_alloc, address, size);
    report_allocated(result, address, size);
    return result;
}

CUresult replaced_alloc_pitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                              std::size_t height, unsigned element_size) noexcept {
    const CUresult result = call(index_alloc_pitch, address, pitch, width, height, element_size);
    report_allocated(result, address, result == CUDA_SUCCESS ? *pitch * height : 0);
    return result;
}

CUresult replaced_alloc_managed(CUdeviceptr* address, std::size_t size, unsigned flags) noexcept {
    const CUresult result = call(index_alloc_managed, address, size, flags);
    report_allocated(result, address, size, UCS_MEMORY_TYPE_CUDA_MANAGED);
    return result;
}

template<function_index Index>
CUresult replaced_alloc_async(CUdeviceptr* address, std::size_t size, CUstream stream) noexcept {
    const CUresult result = call(Index, address, size, stream);
    report_allocated(result, address, size);
    return result;
}

template<function_index Index>
CUresult replaced_alloc_from_pool(CUdeviceptr* address, std::size_t size, CUmemoryPool pool,
                                  CUstream stream) noexcept {
    const CUresult result = call(Index, address, size, pool, stream);
    report_allocated(result, address, size);
    return result;
}

CUresult replaced_map(CUdeviceptr address, std::size_t size, std::size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags) noexcept {
    const CUresult result = call(index_map, address, size, offset, handle, flags);
    report_allocated(result, &address, size);
    return result;
}

CUresult replaced_open(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) noexcept {
    const CUresult result = call(index_open, address, handle, flags);
    if (result == CUDA_SUCCESS && is_reported(UCM_EVENT_MEM_TYPE_ALLOC)) {
        report_allocated(result, address, size_at(*address));
    }
    return result;
}

CUresult replaced_free(CUdeviceptr address) noexcept {
    report_freed(address);
    return call(index_free, address);
}

template<function_index Index>
CUresult replaced_free_async(CUdeviceptr address, CUstream stream) noexcept {
    report_freed(address);
    return call(Index, address, stream);
}

CUresult replaced_unmap(CUdeviceptr address, std::size_t size) noexcept {
    if (is_reported(UCM_EVENT_MEM_TYPE_FREE)) {
        report(UCM_EVENT_MEM_TYPE_FREE, address, size, UCS_MEMORY_TYPE_CUDA);
    }
    return call(index_unmap, address, size);
}

CUresult replaced_close(CUdeviceptr address) noexcept {
    report_freed(address);
    return call(index_close, address);
}

using hook::code_of;

constexpr hook::replaced_function replace(const char* name, int events,
                                          const void* (*replacement)() noexcept,
                                          bool may_be_absent) noexcept {
    return {.name = name,
            .events = events,
            .replacement = replacement,
            .calls_original = true,
            .may_be_absent = may_be_absent};
}

constexpr hook::replaced_function allocator(const char* name, const void* (*replacement)() noexcept,
                                            bool may_be_absent = false) noexcept {
    return replace(name, UCM_EVENT_MEM_TYPE_ALLOC, replacement, may_be_absent);
}

constexpr hook::replaced_function deallocator(const char* name,
                                              const void* (*replacement)() noexcept,
                                              bool may_be_absent = false) noexcept {
    return replace(name, UCM_EVENT_MEM_TYPE_FREE, replacement, may_be_absent);
}

constexpr bool in_newer_drivers = true;

// The _ptsz functions use the calling thread's own default stream. Opening and closing a handle of
// another process's memory is to this process as allocating and freeing it. Functions that allocate
// or register memory of the host are left alone.
constinit hook::replaced_function functions[function_count] = {
    allocator("cuMemAlloc_v2", code_of<replaced_alloc>),
    allocator("cuMemAllocPitch_v2", code_of<replaced_alloc_pitch>),
    allocator("cuMemAllocManaged", code_of<replaced_alloc_managed>),
    allocator("cuMemAllocAsync", code_of<replaced_alloc_async<index_alloc_async>>,
              in_newer_drivers),
    allocator("cuMemAllocAsync_ptsz", code_of<replaced_alloc_async<index_alloc_async_ptsz>>,
              in_newer_drivers),
    allocator("cuMemAllocFromPoolAsync", code_of<replaced_alloc_from_pool<index_alloc_from_pool>>,
              in_newer_drivers),
    allocator("cuMemAllocFromPoolAsync_ptsz",
              code_of<replaced_alloc_from_pool<index_alloc_from_pool_ptsz>>, in_newer_drivers),
    allocator("cuMemMap", code_of<replaced_map>, in_newer_drivers),
    allocator("cuIpcOpenMemHandle_v2", code_of<replaced_open>, in_newer_drivers),
    deallocator("cuMemFree_v2", code_of<replaced_free>),
    deallocator("cuMemFreeAsync", code_of<replaced_free_async<index_free_async>>, in_newer_drivers),
    deallocator("cuMemFreeAsync_ptsz", code_of<replaced_free_async<index_free_async_ptsz>>,
                in_newer_drivers),
    deallocator("cuMemUnmap", code_of<replaced_unmap>, in_newer_drivers),
    deallocator("cuIpcCloseMemHandle", code_of<replaced_close>),
    {.name = "cuMemGetAddressRange_v2"},
    {.name = "cuPointerGetAttribute"},
};

constinit hook::replaced_library the_driver{"libcuda.so.1", functions,
                                            UCM_EVENT_MEM_TYPE_ALLOC | UCM_EVENT_MEM_TYPE_FREE};

}  // namespace

hook::replaced_library& driver() noexcept {
    return the_driver;
}

}  // namespace ucm::cuda
