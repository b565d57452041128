// Ownership of what the CUDA driver makes in a context: streams, events and pinned host memory.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ucs/cuda/driver.hpp"
#include "ucs/type/result.hpp"

namespace ucs::cuda {

// Owns one handle and destroys it. The owner makes the handle's context current for the creation
// and for the destruction. If the context is gone, the driver has destroyed the handle with it, and
// the owner MUST call abandon(). Move only.
template<class Value, CUresult (*driver_functions::*Destroy)(Value)>
class unique_handle {
public:
    unique_handle() noexcept = default;
    unique_handle(const driver_functions& driver, Value handle) noexcept
        : driver_(&driver), handle_(handle) {}
    unique_handle(unique_handle&& other) noexcept
        : driver_(other.driver_), handle_(std::exchange(other.handle_, Value{})) {}
    unique_handle& operator=(unique_handle&& other) noexcept {
        std::swap(driver_, other.driver_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~unique_handle() {
        // The device finishes what the stream still holds; failures have no consequence.
        if (handle_ != Value{}) static_cast<void>((driver_->*Destroy)(handle_));
    }

    [[nodiscard]] Value get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != Value{}; }
    void abandon() noexcept { handle_ = Value{}; }

private:
    const driver_functions* driver_ = nullptr;
    Value handle_{};
};

using stream = unique_handle<CUstream, &driver_functions::cuStreamDestroy_v2>;
using event = unique_handle<CUevent, &driver_functions::cuEventDestroy_v2>;
// Memory of cuMemCreate, or a reference to it. Belongs to no context.
using allocation_handle =
    unique_handle<CUmemGenericAllocationHandle, &driver_functions::cuMemRelease>;

// Makes a stream in the current context that neither waits for the program's streams nor makes them
// wait. Failures are logged.
[[nodiscard]] inline result<stream> make_stream(const driver_functions& driver) noexcept {
    CUstream made = nullptr;
    const ucs_status_t status =
        check(driver.cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (status != UCS_OK) return status;
    return stream(driver, made);
}

// Makes an event in the current context that does not take the time, which is cheaper. Failures are
// logged.
[[nodiscard]] inline result<event> make_event(const driver_functions& driver) noexcept {
    CUevent made = nullptr;
    const ucs_status_t status =
        check(driver.cuEventCreate(&made, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    if (status != UCS_OK) return status;
    return event(driver, made);
}

// Host memory that every device copies from and to without a copy in between, and that kernels can
// access at its own address. It disappears with the context that was current when it was made.
class pinned_memory {
public:
    pinned_memory() noexcept = default;

    // Allocates in the current context. Failures are logged.
    [[nodiscard]] static result<pinned_memory> allocate(const driver_functions& driver,
                                                        std::size_t length) noexcept {
        void* made = nullptr;
        constexpr unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
        const ucs_status_t status =
            check(driver.cuMemHostAlloc(&made, length, flags), "cuMemHostAlloc");
        if (status != UCS_OK) return status;
        pinned_memory memory;
        memory.address_ = {driver, made};
        memory.length_ = length;
        return memory;
    }

    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return {static_cast<std::byte*>(address_.get()), address_ ? length_ : 0};
    }
    explicit operator bool() const noexcept { return static_cast<bool>(address_); }
    // The context is gone, and the memory with it.
    void abandon() noexcept { address_.abandon(); }

private:
    unique_handle<void*, &driver_functions::cuMemFreeHost> address_;
    std::size_t length_ = 0;
};

}  // namespace ucs::cuda
