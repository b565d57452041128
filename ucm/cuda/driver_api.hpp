// The part of NVIDIA's CUDA driver API that libucm replaces or calls.
#pragma once

#include <cstddef>

namespace ucm::cuda {

// Types and values of <cuda.h>, which is not needed to build this.
using CUresult = int;
using CUdeviceptr = unsigned long long;
using CUstream = void*;
using CUmemoryPool = void*;
using CUmemGenericAllocationHandle = unsigned long long;

struct CUipcMemHandle {
    char reserved[64];
};

inline constexpr CUresult CUDA_SUCCESS = 0;
inline constexpr int CU_POINTER_ATTRIBUTE_IS_MANAGED = 8;

using cuMemGetAddressRange_function = CUresult (*)(CUdeviceptr* base, std::size_t* length,
                                                   CUdeviceptr address);
using cuPointerGetAttribute_function = CUresult (*)(void* value, int attribute,
                                                    CUdeviceptr address);

}  // namespace ucm::cuda
