// The part of NVIDIA's CUDA driver API that Hawser calls: types, values and functions.
#pragma once

#include <cstddef>
#include <cstdint>

// Names, values and layouts are those of <cuda.h> of the CUDA Toolkit 11.4 to 13, which is not
// needed to build this. test/cuda/declarations_test.cpp compares them with <cuda.h> where it is
// installed. A function has the name of its symbol in libcuda.so.1, which includes its version.
namespace ucs::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_object*;
using CUstream = struct CUstream_object*;
using CUevent = struct CUevent_object*;
using CUmemoryPool = struct CUmemory_pool_object*;
using CUlibrary = struct CUlibrary_object*;
using CUkernel = struct CUkernel_object*;
using CUfunction = struct CUfunction_object*;
using CUmemGenericAllocationHandle = unsigned long long;
using CUhostFn = void (*)(void* user_data);

// Only the values that Hawser tells apart; the driver may return others.
enum CUresult : int {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_MAP_FAILED = 205,
    CUDA_ERROR_ALREADY_MAPPED = 208,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_NOT_MAPPED = 211,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_ILLEGAL_STATE = 401,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
    CUDA_ERROR_UNKNOWN = 999,
};

enum CUpointer_attribute : int {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,                      // CUcontext
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,                  // CUmemorytype
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,               // CUdeviceptr
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,                 // void*
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,                  // bool, can be set
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,                    // std::uint64_t
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,                   // bool
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,               // int
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,  // bool
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,            // CUdeviceptr
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,                  // std::size_t
    CU_POINTER_ATTRIBUTE_MAPPED = 13,                      // bool
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,        // std::uint64_t
    CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,  // bool
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,              // CUmemoryPool
    CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,                // std::size_t
    CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,           // CUdeviceptr
};

enum CUmemorytype : unsigned {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4,
};

enum CUdevice_attribute : int {
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
};

enum CUdevice_P2PAttribute : int {
    CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,
    CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
};

struct CUuuid {
    char bytes[16];
};

struct CUipcMemHandle {
    char reserved[64];
};

enum CUmemLocationType : int { CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_LOCATION_TYPE_HOST = 2 };
enum CUmemAllocationType : int { CU_MEM_ALLOCATION_TYPE_PINNED = 1 };
enum CUmemAllocationHandleType : int {
    CU_MEM_HANDLE_TYPE_NONE = 0,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
    CU_MEM_HANDLE_TYPE_FABRIC = 8,
};
enum CUmemAccess_flags : int {
    CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
    CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
};
enum CUmemAllocationGranularity_flags : int {
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
};
enum CUmemRangeHandleType : int { CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1 };

struct CUmemLocation {
    CUmemLocationType type;
    int id;
};

struct CUmemAccessDesc {
    CUmemLocation location;
    CUmemAccess_flags flags;
};

struct CUmemAllocationProp {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void* win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
};

struct CUmemPoolProps {
    CUmemAllocationType allocType;
    CUmemAllocationHandleType handleTypes;
    CUmemLocation location;
    void* win32SecurityAttributes;
    std::size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

enum CUstreamCaptureStatus : int {
    CU_STREAM_CAPTURE_STATUS_NONE = 0,
    CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
    CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
};

// Options of the kernel loader, none of which Hawser uses.
using CUjit_option = int;
using CUlibraryOption = int;

inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1;
inline constexpr unsigned CU_MEMHOSTALLOC_DEVICEMAP = 2;
inline constexpr unsigned CU_MEMHOSTREGISTER_PORTABLE = 1;
inline constexpr unsigned CU_MEMHOSTREGISTER_DEVICEMAP = 2;
inline constexpr unsigned CU_MEM_ATTACH_GLOBAL = 1;
inline constexpr unsigned CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1;
inline constexpr unsigned CU_STREAM_WAIT_VALUE_GEQ = 0;

}  // namespace ucs::cuda

// The functions that Hawser needs, one X(name, parameters) each. All return CUresult.
#define UCS_CUDA_FUNCTIONS(X)                                                                      \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDriverGetVersion, (int* version))                                                          \
    X(cuGetErrorName, (CUresult error, const char** name))                                         \
    X(cuGetErrorString, (CUresult error, const char** text))                                       \
    X(cuDeviceGetCount, (int* count))                                                              \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                               \
    X(cuDeviceGetName, (char* name, int length, CUdevice device))                                  \
    X(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                                           \
    X(cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device))           \
    X(cuDeviceTotalMem_v2, (std::size_t * bytes, CUdevice device))                                 \
    X(cuDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer))                           \
    X(cuDeviceGetP2PAttribute,                                                                     \
      (int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to))                   \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                            \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                             \
    X(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned* flags, int* active))                 \
    X(cuCtxPushCurrent_v2, (CUcontext context))                                                    \
    X(cuCtxPopCurrent_v2, (CUcontext * context))                                                   \
    X(cuCtxGetCurrent, (CUcontext * context))                                                      \
    X(cuCtxGetDevice, (CUdevice * device))                                                         \
    X(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))                                     \
    X(cuMemAlloc_v2, (CUdeviceptr * address, std::size_t length))                                  \
    X(cuMemFree_v2, (CUdeviceptr address))                                                         \
    X(cuMemAllocManaged, (CUdeviceptr * address, std::size_t length, unsigned flags))              \
    X(cuMemHostAlloc, (void** address, std::size_t length, unsigned flags))                        \
    X(cuMemFreeHost, (void* address))                                                              \
    X(cuMemHostRegister_v2, (void* address, std::size_t length, unsigned flags))                   \
    X(cuMemHostUnregister, (void* address))                                                        \
    X(cuMemHostGetDevicePointer_v2, (CUdeviceptr * device, void* host, unsigned flags))            \
    X(cuMemGetAddressRange_v2, (CUdeviceptr * base, std::size_t * length, CUdeviceptr address))    \
    X(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                  \
    X(cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr address))    \
    X(cuPointerGetAttributes,                                                                      \
      (unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr address))       \
    X(cuPointerSetAttribute,                                                                       \
      (const void* value, CUpointer_attribute attribute, CUdeviceptr address))                     \
    X(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t length, CUstream stream))      \
    X(cuMemsetD8Async,                                                                             \
      (CUdeviceptr address, unsigned char value, std::size_t length, CUstream stream))             \
    X(cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr address))                           \
    X(cuIpcOpenMemHandle_v2, (CUdeviceptr * address, CUipcMemHandle handle, unsigned flags))       \
    X(cuIpcCloseMemHandle, (CUdeviceptr address))                                                  \
    X(cuMemCreate, (CUmemGenericAllocationHandle * handle, std::size_t length,                     \
                    const CUmemAllocationProp* properties, unsigned long long flags))              \
    X(cuMemRelease, (CUmemGenericAllocationHandle handle))                                         \
    X(cuMemAddressReserve, (CUdeviceptr * address, std::size_t length, std::size_t alignment,      \
                            CUdeviceptr wanted, unsigned long long flags))                         \
    X(cuMemAddressFree, (CUdeviceptr address, std::size_t length))                                 \
    X(cuMemMap, (CUdeviceptr address, std::size_t length, std::size_t offset,                      \
                 CUmemGenericAllocationHandle handle, unsigned long long flags))                   \
    X(cuMemUnmap, (CUdeviceptr address, std::size_t length))                                       \
    X(cuMemSetAccess,                                                                              \
      (CUdeviceptr address, std::size_t length, const CUmemAccessDesc* access, std::size_t count)) \
    X(cuMemExportToShareableHandle, (void* shareable, CUmemGenericAllocationHandle handle,         \
                                     CUmemAllocationHandleType type, unsigned long long flags))    \
    X(cuMemImportFromShareableHandle,                                                              \
      (CUmemGenericAllocationHandle * handle, void* shareable, CUmemAllocationHandleType type))    \
    X(cuMemGetAllocationGranularity,                                                               \
      (std::size_t * granularity, const CUmemAllocationProp* properties,                           \
       CUmemAllocationGranularity_flags which))                                                    \
    X(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void* address))         \
    X(cuStreamCreate, (CUstream * stream, unsigned flags))                                         \
    X(cuStreamDestroy_v2, (CUstream stream))                                                       \
    X(cuStreamQuery, (CUstream stream))                                                            \
    X(cuStreamSynchronize, (CUstream stream))                                                      \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                         \
    X(cuStreamGetCtx, (CUstream stream, CUcontext * context))                                      \
    X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status))                      \
    X(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void* user_data))                     \
    X(cuEventCreate, (CUevent * event, unsigned flags))                                            \
    X(cuEventDestroy_v2, (CUevent event))                                                          \
    X(cuEventRecord, (CUevent event, CUstream stream))                                             \
    X(cuEventQuery, (CUevent event))                                                               \
    X(cuEventSynchronize, (CUevent event))

// Functions that older drivers lack. Their callers check for null.
#define UCS_CUDA_NEWER_FUNCTIONS(X)                                                            \
    X(cuCtxGetId, (CUcontext context, unsigned long long* id))                                 \
    X(cuMemAllocAsync, (CUdeviceptr * address, std::size_t length, CUstream stream))           \
    X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                                  \
    X(cuMemGetHandleForAddressRange, (void* handle, CUdeviceptr address, std::size_t length,   \
                                      CUmemRangeHandleType type, unsigned long long flags))    \
    X(cuStreamWriteValue64_v2,                                                                 \
      (CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags))             \
    X(cuStreamWaitValue64_v2,                                                                  \
      (CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags))             \
    X(cuLibraryLoadData,                                                                       \
      (CUlibrary * library, const void* code, CUjit_option* jit_options, void** jit_values,    \
       unsigned jit_count, CUlibraryOption* options, void** values, unsigned count))           \
    X(cuLibraryUnload, (CUlibrary library))                                                    \
    X(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char* name))            \
    X(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                       unsigned block_x, unsigned block_y, unsigned block_z,                   \
                       unsigned shared_bytes, CUstream stream, void** parameters, void** extra))
