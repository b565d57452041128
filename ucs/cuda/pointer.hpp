// Properties of an address, as the CUDA driver knows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ucs/cuda/driver.hpp"
#include "ucs/memory/memory_type.h"

namespace ucs::cuda {

// Memory of a device of which an address is a part. A value.
struct device_memory {
    ucs_memory_type_t type = UCS_MEMORY_TYPE_CUDA;  // or UCS_MEMORY_TYPE_CUDA_MANAGED
    CUcontext context = nullptr;  // the context to call the driver in; null: VMM and pool memory,
                                  // which belongs to a device and not to a context
    int device = -1;              // ordinal
    CUdeviceptr base = 0;         // of the allocation
    std::size_t length = 0;       // of the allocation
    std::uint64_t buffer_id = 0;  // no other allocation of this process ever has it
    bool has_legacy_handle = false;  // cuIpcGetMemHandle works for it

    [[nodiscard]] bool contains(const void* address, std::size_t bytes) const noexcept {
        const auto offset = reinterpret_cast<CUdeviceptr>(address) - base;
        return offset <= length && bytes <= length - offset;
    }
};

// Asks the driver about an address, which takes about 0.3 us. Returns nothing for memory of the
// host, including memory that is registered with a device (its address is the host's), and while
// the process has not initialized the driver. `outcome` receives the result of the driver: after a
// failed operation it may refuse to tell, and then the memory may be of a device. Any thread; needs
// no current context.
[[nodiscard]] std::optional<device_memory> query_pointer(const driver_functions& driver,
                                                         const void* address,
                                                         CUresult* outcome = nullptr) noexcept;

// Returns the buffer id of an address, 0 if the driver does not know it. About 0.1 us.
[[nodiscard]] std::uint64_t query_buffer_id(const driver_functions& driver,
                                            const void* address) noexcept;

}  // namespace ucs::cuda
