// Memory of a device that the library allocates.
#pragma once

#include <memory>

#include "ucs/cuda/pointer.hpp"
#include "ucs/type/result.hpp"

namespace ucs::cuda {

// Owns memory of a device or, with `managed`, memory that migrates between host and device. It lies
// in the context that was current when it was allocated, which is kept alive if it is a primary
// one. Any thread.
class allocation {
public:
    virtual ~allocation() = default;
    allocation(const allocation&) = delete;
    allocation& operator=(const allocation&) = delete;

    [[nodiscard]] std::byte* base() const noexcept { return base_; }

    // Allocates in the current context of the calling thread, otherwise in the primary context of
    // the first device; initializes the driver. `type` is UCS_MEMORY_TYPE_CUDA or
    // UCS_MEMORY_TYPE_CUDA_MANAGED. Returns UCS_ERR_NO_DEVICE, UCS_ERR_NO_MEMORY or
    // UCS_ERR_UNSUPPORTED (another type). Failures are logged. May throw std::bad_alloc.
    [[nodiscard]] static result<std::unique_ptr<allocation>> make(std::size_t length,
                                                                  ucs_memory_type_t type);

protected:
    explicit allocation(std::byte* base) noexcept : base_(base) {}

private:
    std::byte* const base_;
};

}  // namespace ucs::cuda
