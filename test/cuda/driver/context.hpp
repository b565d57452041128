// Contexts, and the stack of contexts of each thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <thread>

#include "test/cuda/driver/call.hpp"
#include "test/cuda/driver/device.hpp"

namespace standin {

struct stream;

// Owned by the table of contexts until it is destroyed, then by the operations that still refer to
// it. The primary context of a device always has the same handle, but is a new object with a new id
// each time that it becomes active. The lock guards it.
struct context {
    CUcontext handle;
    std::uint64_t id;
    device& on;
    bool is_primary;
    unsigned retains = 0;  // of a primary context
    bool is_destroyed = false;
    // The failure of an operation. It stays.
    CUresult error = CUDA_SUCCESS;
    std::set<std::uint64_t> peers{};  // ids of contexts whose memory kernels may access
    std::shared_ptr<stream> legacy{};
    std::map<std::thread::id, std::shared_ptr<stream>> per_thread{};
};

using context_ref = std::shared_ptr<context>;

// Returns the failure of the context or of its device; CUDA_SUCCESS if both work.
[[nodiscard]] CUresult error_of(const context& asked) noexcept;

// Fails with error_of.
void check_works(const context& asked);

// Returns the context that is current to this thread. Fails with CUDA_ERROR_INVALID_CONTEXT if
// there is none, and with CUDA_ERROR_CONTEXT_IS_DESTROYED.
[[nodiscard]] context_ref current_context_even_broken();

// As above; also fails with check_works.
[[nodiscard]] context_ref current_context();

// Returns the current context; null if there is none that exists.
[[nodiscard]] context_ref current_context_or_null();

// Returns a context by handle, or fails with CUDA_ERROR_INVALID_CONTEXT.
[[nodiscard]] context_ref find_context(CUcontext handle);

// All contexts that exist.
[[nodiscard]] const std::map<CUcontext, context_ref>& contexts();

}  // namespace standin
