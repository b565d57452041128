// Contexts: their identity, and primary contexts that are kept alive.
#pragma once

#include <utility>

#include "ucs/cuda/pointer.hpp"
#include "ucs/type/result.hpp"

namespace ucs::cuda {

// Identifies a context for as long as the process lives: the driver gives the handle of a destroyed
// context to a new one. The number is 0 with drivers that are older than CUDA 12, and then a
// context with the same handle counts as the same.
struct context_identity {
    CUcontext handle = nullptr;
    unsigned long long number = 0;

    [[nodiscard]] static context_identity of(const driver_functions& driver,
                                             CUcontext handle) noexcept {
        context_identity made{handle, 0};
        if (driver.cuCtxGetId != nullptr && driver.cuCtxGetId(handle, &made.number) != CUDA_SUCCESS)
            made.number = 0;
        return made;
    }
    bool operator==(const context_identity&) const = default;
};

// Keeps the primary context of a device alive, for memory that belongs to a device and to no
// context (device_memory::context is null). Move only; any thread.
class primary_context {
public:
    primary_context() noexcept = default;
    primary_context(primary_context&& other) noexcept
        : driver_(std::exchange(other.driver_, nullptr)),
          device_(other.device_),
          handle_(std::exchange(other.handle_, nullptr)) {}
    primary_context& operator=(primary_context&& other) noexcept {
        std::swap(driver_, other.driver_);
        std::swap(device_, other.device_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~primary_context() {
        if (driver_ != nullptr) driver_->cuDevicePrimaryCtxRelease_v2(device_);
    }

    // Creates the context if the program has not. `ordinal` counts the devices of this process.
    // Failures are logged.
    [[nodiscard]] static result<primary_context> retain(const driver_functions& driver,
                                                        int ordinal) noexcept {
        primary_context made;
        ucs_status_t status = check(driver.cuDeviceGet(&made.device_, ordinal), "cuDeviceGet");
        if (status != UCS_OK) return status;
        status = check(driver.cuDevicePrimaryCtxRetain(&made.handle_, made.device_),
                       "cuDevicePrimaryCtxRetain");
        if (status != UCS_OK) return status;
        made.driver_ = &driver;
        return made;
    }

    [[nodiscard]] CUcontext handle() const noexcept { return handle_; }

private:
    const driver_functions* driver_ = nullptr;  // null: holds nothing
    CUdevice device_ = 0;
    CUcontext handle_ = nullptr;
};

}  // namespace ucs::cuda
