// Device memory of another process that is mapped into this one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ucs/cuda/context.hpp"
#include "ucs/cuda/handle.hpp"
#include "ucs/cuda/pointer.hpp"
#include "uct/cuda/ipc/broker_client.hpp"
#include "uct/cuda/ipc/key.hpp"

namespace uct::cuda {

// One allocation of the owner, or several adjacent ones. Its memory stays allocated while a mapping
// exists, even if the owner has freed it or has ended. Immutable, any thread.
class mapping {
public:
    virtual ~mapping() = default;
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;

    // Returns the mapped memory, as copies need it.
    [[nodiscard]] const ucs::cuda::device_memory& memory() const noexcept { return memory_; }

protected:
    mapping() = default;
    ucs::cuda::device_memory memory_;
};

struct opened_mapping {
    std::unique_ptr<mapping> made;
    ucs::cuda::CUresult outcome = ucs::cuda::CUDA_SUCCESS;  // of the call that failed
    std::string problem;                                    // the reason if nothing is mapped
};

// Map the memory of a key for a device of this process, whose primary context is retained. The
// handle in the key is untrusted, and must not be one of this process. May throw std::bad_alloc.
// Nothing is logged.
[[nodiscard]] opened_mapping open_legacy(const ucs::cuda::driver_functions& driver,
                                         const ipc_key& key, int ordinal);
[[nodiscard]] opened_mapping open_parts(const ucs::cuda::driver_functions& driver,
                                        const std::vector<imported_part>& parts, int ordinal);

}  // namespace uct::cuda
