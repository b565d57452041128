// Compares our declarations of the CUDA driver's interface with those of <cuda.h>. There is nothing
// to run: the file compiles, or the compiler names what differs.
#include <cstddef>
#include <type_traits>

#include "ucs/cuda/driver_api.hpp"

// <cuda.h> defines macros with the names of some of our constants, so these get another name first.
namespace {

constexpr unsigned our_CU_STREAM_NON_BLOCKING = ucs::cuda::CU_STREAM_NON_BLOCKING;
constexpr unsigned our_CU_EVENT_DISABLE_TIMING = ucs::cuda::CU_EVENT_DISABLE_TIMING;
constexpr unsigned our_CU_MEMHOSTALLOC_PORTABLE = ucs::cuda::CU_MEMHOSTALLOC_PORTABLE;
constexpr unsigned our_CU_MEMHOSTALLOC_DEVICEMAP = ucs::cuda::CU_MEMHOSTALLOC_DEVICEMAP;
constexpr unsigned our_CU_MEMHOSTREGISTER_PORTABLE = ucs::cuda::CU_MEMHOSTREGISTER_PORTABLE;
constexpr unsigned our_CU_MEMHOSTREGISTER_DEVICEMAP = ucs::cuda::CU_MEMHOSTREGISTER_DEVICEMAP;
constexpr unsigned our_CU_MEM_ATTACH_GLOBAL = ucs::cuda::CU_MEM_ATTACH_GLOBAL;
constexpr unsigned our_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS =
    ucs::cuda::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
constexpr unsigned our_CU_STREAM_WAIT_VALUE_GEQ = ucs::cuda::CU_STREAM_WAIT_VALUE_GEQ;
}  // namespace

#include <cuda.h>

static_assert(CUDA_VERSION >= 12020, "CMakeLists.txt takes an older <cuda.h>");

namespace declarations {

// True for a type of ours and the type of <cuda.h> that it stands for.
template<class Ours, class Theirs>
inline constexpr bool is_counterpart = false;

#define SAME_TYPE(name)                                            \
    template<>                                                     \
    constexpr bool is_counterpart<ucs::cuda::name, ::name> = true; \
    static_assert(sizeof(ucs::cuda::name) == sizeof(::name));      \
    static_assert(alignof(ucs::cuda::name) == alignof(::name));

// Handles are pointers to structures that only the driver knows.
#define SAME_HANDLE(name)                                                                       \
    template<>                                                                                  \
    constexpr bool                                                                              \
        is_counterpart<std::remove_pointer_t<ucs::cuda::name>, std::remove_pointer_t<::name>> = \
            true;

SAME_TYPE(CUresult)
SAME_TYPE(CUpointer_attribute)
SAME_TYPE(CUmemorytype)
SAME_TYPE(CUdevice_attribute)
SAME_TYPE(CUdevice_P2PAttribute)
SAME_TYPE(CUmemLocationType)
SAME_TYPE(CUmemAllocationType)
SAME_TYPE(CUmemAllocationHandleType)
SAME_TYPE(CUmemAccess_flags)
SAME_TYPE(CUmemAllocationGranularity_flags)
SAME_TYPE(CUmemRangeHandleType)
SAME_TYPE(CUstreamCaptureStatus)
SAME_TYPE(CUuuid)
SAME_TYPE(CUipcMemHandle)
SAME_TYPE(CUmemLocation)
SAME_TYPE(CUmemAccessDesc)
SAME_TYPE(CUmemAllocationProp)
SAME_TYPE(CUmemPoolProps)
SAME_HANDLE(CUcontext)
SAME_HANDLE(CUstream)
SAME_HANDLE(CUevent)
SAME_HANDLE(CUmemoryPool)
SAME_HANDLE(CUlibrary)
SAME_HANDLE(CUkernel)
SAME_HANDLE(CUfunction)

// We pass no options to the kernel loader, and declare them as numbers.
template<>
constexpr bool is_counterpart<int, ::CUjit_option> = true;
template<>
constexpr bool is_counterpart<int, ::CUlibraryOption> = true;

static_assert(std::is_same_v<ucs::cuda::CUdevice, ::CUdevice>);
static_assert(std::is_same_v<ucs::cuda::CUdeviceptr, ::CUdeviceptr>);
static_assert(
    std::is_same_v<ucs::cuda::CUmemGenericAllocationHandle, ::CUmemGenericAllocationHandle>);
static_assert(std::is_same_v<ucs::cuda::CUhostFn, ::CUhostFn>);

#define SAME_VALUE(name) \
    static_assert(static_cast<long long>(ucs::cuda::name) == static_cast<long long>(::name));

SAME_VALUE(CUDA_SUCCESS)
SAME_VALUE(CUDA_ERROR_INVALID_VALUE)
SAME_VALUE(CUDA_ERROR_OUT_OF_MEMORY)
SAME_VALUE(CUDA_ERROR_NOT_INITIALIZED)
SAME_VALUE(CUDA_ERROR_DEINITIALIZED)
SAME_VALUE(CUDA_ERROR_STUB_LIBRARY)
SAME_VALUE(CUDA_ERROR_DEVICE_UNAVAILABLE)
SAME_VALUE(CUDA_ERROR_NO_DEVICE)
SAME_VALUE(CUDA_ERROR_INVALID_DEVICE)
SAME_VALUE(CUDA_ERROR_INVALID_IMAGE)
SAME_VALUE(CUDA_ERROR_INVALID_CONTEXT)
SAME_VALUE(CUDA_ERROR_MAP_FAILED)
SAME_VALUE(CUDA_ERROR_ALREADY_MAPPED)
SAME_VALUE(CUDA_ERROR_NO_BINARY_FOR_GPU)
SAME_VALUE(CUDA_ERROR_NOT_MAPPED)
SAME_VALUE(CUDA_ERROR_ECC_UNCORRECTABLE)
SAME_VALUE(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
SAME_VALUE(CUDA_ERROR_NVLINK_UNCORRECTABLE)
SAME_VALUE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
SAME_VALUE(CUDA_ERROR_OPERATING_SYSTEM)
SAME_VALUE(CUDA_ERROR_INVALID_HANDLE)
SAME_VALUE(CUDA_ERROR_ILLEGAL_STATE)
SAME_VALUE(CUDA_ERROR_NOT_FOUND)
SAME_VALUE(CUDA_ERROR_NOT_READY)
SAME_VALUE(CUDA_ERROR_ILLEGAL_ADDRESS)
SAME_VALUE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
SAME_VALUE(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
SAME_VALUE(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
SAME_VALUE(CUDA_ERROR_CONTEXT_IS_DESTROYED)
SAME_VALUE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
SAME_VALUE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
SAME_VALUE(CUDA_ERROR_LAUNCH_FAILED)
SAME_VALUE(CUDA_ERROR_NOT_PERMITTED)
SAME_VALUE(CUDA_ERROR_NOT_SUPPORTED)
SAME_VALUE(CUDA_ERROR_SYSTEM_NOT_READY)
SAME_VALUE(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
SAME_VALUE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
SAME_VALUE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
SAME_VALUE(CUDA_ERROR_UNKNOWN)
SAME_VALUE(CU_POINTER_ATTRIBUTE_CONTEXT)
SAME_VALUE(CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
SAME_VALUE(CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
SAME_VALUE(CU_POINTER_ATTRIBUTE_HOST_POINTER)
SAME_VALUE(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
SAME_VALUE(CU_POINTER_ATTRIBUTE_BUFFER_ID)
SAME_VALUE(CU_POINTER_ATTRIBUTE_IS_MANAGED)
SAME_VALUE(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
SAME_VALUE(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE)
SAME_VALUE(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
SAME_VALUE(CU_POINTER_ATTRIBUTE_RANGE_SIZE)
SAME_VALUE(CU_POINTER_ATTRIBUTE_MAPPED)
SAME_VALUE(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES)
SAME_VALUE(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE)
SAME_VALUE(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
SAME_VALUE(CU_POINTER_ATTRIBUTE_MAPPING_SIZE)
SAME_VALUE(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR)
SAME_VALUE(CU_MEMORYTYPE_HOST)
SAME_VALUE(CU_MEMORYTYPE_DEVICE)
SAME_VALUE(CU_MEMORYTYPE_ARRAY)
SAME_VALUE(CU_MEMORYTYPE_UNIFIED)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_INTEGRATED)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)
SAME_VALUE(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)
SAME_VALUE(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED)
SAME_VALUE(CU_MEM_LOCATION_TYPE_DEVICE)
SAME_VALUE(CU_MEM_LOCATION_TYPE_HOST)
SAME_VALUE(CU_MEM_ALLOCATION_TYPE_PINNED)
SAME_VALUE(CU_MEM_HANDLE_TYPE_NONE)
SAME_VALUE(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
SAME_VALUE(CU_MEM_HANDLE_TYPE_FABRIC)
SAME_VALUE(CU_MEM_ACCESS_FLAGS_PROT_NONE)
SAME_VALUE(CU_MEM_ACCESS_FLAGS_PROT_READ)
SAME_VALUE(CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
SAME_VALUE(CU_MEM_ALLOC_GRANULARITY_MINIMUM)
SAME_VALUE(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
SAME_VALUE(CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_NONE)
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_ACTIVE)
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_INVALIDATED)

#define SAME_CONSTANT(name) static_assert(our_##name == (name));

SAME_CONSTANT(CU_STREAM_NON_BLOCKING)
SAME_CONSTANT(CU_EVENT_DISABLE_TIMING)
SAME_CONSTANT(CU_MEMHOSTALLOC_PORTABLE)
SAME_CONSTANT(CU_MEMHOSTALLOC_DEVICEMAP)
SAME_CONSTANT(CU_MEMHOSTREGISTER_PORTABLE)
SAME_CONSTANT(CU_MEMHOSTREGISTER_DEVICEMAP)
SAME_CONSTANT(CU_MEM_ATTACH_GLOBAL)
SAME_CONSTANT(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
SAME_CONSTANT(CU_STREAM_WAIT_VALUE_GEQ)

#define SAME_PLACE(type, member) \
    static_assert(offsetof(ucs::cuda::type, member) == offsetof(::type, member));

SAME_PLACE(CUmemLocation, type)
SAME_PLACE(CUmemLocation, id)
SAME_PLACE(CUmemAccessDesc, location)
SAME_PLACE(CUmemAccessDesc, flags)
SAME_PLACE(CUmemAllocationProp, type)
SAME_PLACE(CUmemAllocationProp, requestedHandleTypes)
SAME_PLACE(CUmemAllocationProp, location)
SAME_PLACE(CUmemAllocationProp, win32HandleMetaData)
SAME_PLACE(CUmemAllocationProp, allocFlags)
SAME_PLACE(CUmemAllocationProp, allocFlags.compressionType)
SAME_PLACE(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable)
SAME_PLACE(CUmemAllocationProp, allocFlags.usage)
SAME_PLACE(CUmemPoolProps, allocType)
SAME_PLACE(CUmemPoolProps, handleTypes)
SAME_PLACE(CUmemPoolProps, location)
SAME_PLACE(CUmemPoolProps, win32SecurityAttributes)
SAME_PLACE(CUmemPoolProps, maxSize)
SAME_PLACE(CUmemPoolProps, usage)

// True if both parameters are passed in the same way and mean the same.
template<class Ours, class Theirs>
constexpr bool is_same_parameter = std::is_same_v<Ours, Theirs> || is_counterpart<Ours, Theirs>;
template<class Ours, class Theirs>
constexpr bool is_same_parameter<Ours*, Theirs*> = is_same_parameter<Ours, Theirs>;
template<class Ours, class Theirs>
constexpr bool is_same_parameter<const Ours, const Theirs> = is_same_parameter<Ours, Theirs>;

template<class Ours, class Theirs>
constexpr bool is_same_function = false;
template<class... Ours, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) constexpr bool is_same_function<
    ucs::cuda::CUresult(Ours...), ::CUresult(Theirs...)> = (is_same_parameter<Ours, Theirs> && ...);

}  // namespace declarations

// Our functions, as types; their parameters are named without a namespace.
namespace ucs::cuda {
namespace {

#define OUR_FUNCTION(name, parameters) using our_##name = CUresult parameters;
UCS_CUDA_FUNCTIONS(OUR_FUNCTION)
UCS_CUDA_NEWER_FUNCTIONS(OUR_FUNCTION)

}  // namespace
}  // namespace ucs::cuda

#define SAME_FUNCTION(name, parameters) \
    static_assert(declarations::is_same_function<ucs::cuda::our_##name, decltype(::name)>);
UCS_CUDA_FUNCTIONS(SAME_FUNCTION)
UCS_CUDA_NEWER_FUNCTIONS(SAME_FUNCTION)
