// The CUDA driver, loaded at run time.
#pragma once

#include <string>
#include <string_view>

#include "ucs/cuda/driver_api.hpp"
#include "ucs/log/log.hpp"
#include "ucs/type/status.h"

namespace ucs::cuda {

inline constinit const log::component cuda_log{"ucs.cuda"};

// The functions of libcuda.so.1. Hawser's libraries are not linked with it: they work on machines
// without it. Each member has the name of its symbol. Immutable once loaded; any thread.
struct driver_functions {
#define UCS_CUDA_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;
    UCS_CUDA_FUNCTIONS(UCS_CUDA_MEMBER)
    // Null if the driver is older than the function.
    UCS_CUDA_NEWER_FUNCTIONS(UCS_CUDA_MEMBER)
#undef UCS_CUDA_MEMBER
};

// Loads the driver with the first call, without initializing it, and returns its functions. Returns
// nullptr if there is none that can be used; `why_no_driver` tells why. The driver stays loaded.
// Any thread.
[[nodiscard]] const driver_functions* load_driver() noexcept;

// Returns the functions if load_driver() has found them before, otherwise nullptr. One load.
[[nodiscard]] const driver_functions* loaded_driver() noexcept;

// Initializes the driver, which takes up to a second on a machine with many devices, and creates no
// context. Returns nullptr if there is no driver or no device. Programs that only use host memory
// never come here. Any thread.
[[nodiscard]] const driver_functions* start_driver() noexcept;

// Returns the reason why load_driver() or start_driver() has returned nullptr; empty if neither
// has.
[[nodiscard]] std::string why_no_driver();

// Returns "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
[[nodiscard]] std::string error_text(CUresult error);

// Returns the status of a failed call: UCS_ERR_NO_MEMORY, UCS_ERR_INVALID_ADDR if the driver does
// not know the memory or its context is gone, UCS_ERR_NO_DEVICE if the device is lost,
// UCS_ERR_UNREACHABLE if the device cannot access the peer, UCS_ERR_UNSUPPORTED, otherwise
// UCS_ERR_IO_ERROR. Any thread.
[[nodiscard]] ucs_status_t status_of(CUresult error) noexcept;

// Returns the status of a call, and logs a failure as an error: "cuMemAlloc_v2 failed: CUDA_…".
// `purpose` says what the caller wanted, "to allocate 4096 bytes"; it may be empty.
ucs_status_t check(CUresult outcome, const char* call, std::string_view purpose = {}) noexcept;

}  // namespace ucs::cuda
