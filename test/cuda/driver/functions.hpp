// The functions that the stand-in for libcuda.so.1 exports.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucs/cuda/driver_api.hpp"

// Functions that test programs call as clients of CUDA, in addition to those that Hawser calls.
#define STANDIN_CLIENT_FUNCTIONS(X)                                                                \
    X(cuGetProcAddress_v2,                                                                         \
      (const char* symbol, void** function, int version, std::uint64_t flags, int* symbol_status)) \
    X(cuDeviceGetPCIBusId, (char* text, int length, CUdevice device))                              \
    X(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device))                           \
    X(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device))                      \
    X(cuCtxDestroy_v2, (CUcontext context))                                                        \
    X(cuCtxSetCurrent, (CUcontext context))                                                        \
    X(cuCtxSynchronize, ())                                                                        \
    X(cuMemAllocPitch_v2, (CUdeviceptr * address, std::size_t * pitch, std::size_t width,          \
                           std::size_t height, unsigned element_size))                             \
    X(cuMemAllocHost_v2, (void** address, std::size_t length))                                     \
    X(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t length))                            \
    X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, std::size_t length))                     \
    X(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, std::size_t length))                           \
    X(cuMemsetD8_v2, (CUdeviceptr address, unsigned char value, std::size_t length))               \
    X(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps* properties))                    \
    X(cuMemPoolDestroy, (CUmemoryPool pool))                                                       \
    X(cuMemAllocFromPoolAsync,                                                                     \
      (CUdeviceptr * address, std::size_t length, CUmemoryPool pool, CUstream stream))             \
    X(cuMemAllocAsync_ptsz, (CUdeviceptr * address, std::size_t length, CUstream stream))          \
    X(cuMemAllocFromPoolAsync_ptsz,                                                                \
      (CUdeviceptr * address, std::size_t length, CUmemoryPool pool, CUstream stream))             \
    X(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream))                                 \
    X(cuStreamWriteValue32_v2,                                                                     \
      (CUstream stream, CUdeviceptr address, std::uint32_t value, unsigned flags))                 \
    X(cuEventElapsedTime, (float* milliseconds, CUevent begin, CUevent end))

#define STANDIN_FUNCTIONS(X)    \
    UCS_CUDA_FUNCTIONS(X)       \
    UCS_CUDA_NEWER_FUNCTIONS(X) \
    STANDIN_CLIENT_FUNCTIONS(X)

namespace standin {

using namespace ucs::cuda;

// Makes a function begin with an instruction of eight bytes, at an address that is a multiple of
// 16, so that libucm can replace it in every build.
#if defined(__clang__)
#define STANDIN_REPLACEABLE \
    __attribute__((aligned(16), patchable_function_entry(8), no_sanitize("function")))
#elif defined(__x86_64__)
#define STANDIN_REPLACEABLE __attribute__((aligned(16), ms_hook_prologue))
#else
#define STANDIN_REPLACEABLE
#endif

// Each definition includes this header: one with other parameters does not compile.
#define STANDIN_DECLARE(name, parameters) \
    extern "C" [[gnu::visibility("default")]] STANDIN_REPLACEABLE CUresult name parameters;
STANDIN_FUNCTIONS(STANDIN_DECLARE)
#undef STANDIN_DECLARE
#undef STANDIN_REPLACEABLE

// Names the functions inside the stand-in.
enum class function : unsigned {
#define STANDIN_ENUMERATOR(name, parameters) name,
    STANDIN_FUNCTIONS(STANDIN_ENUMERATOR)
#undef STANDIN_ENUMERATOR
        count
};

// Returns the symbol of a function.
[[nodiscard]] const char* name_of(function named) noexcept;

// Returns the function of a symbol; function::count if there is none.
[[nodiscard]] function find_function(const char* symbol) noexcept;

// Returns the oldest version of CUDA (1000 * major + 10 * minor) that has the function.
[[nodiscard]] int first_version(function named) noexcept;

}  // namespace standin
