// Makes the program's copies to device memory end before other parties read it.
#pragma once

#include <array>

#include "ucs/cuda/pointer.hpp"

namespace uct::cuda {

// cudaMemcpy between device memories and cudaMemset may return before they have ended. The program
// then rightly takes the memory for written, but a copy on another stream, a peer or an RDMA device
// could read what was there before. From this call on they end before they return. Needs a current
// context; refusals have no consequence.
inline void make_writes_synchronous(const ucs::cuda::driver_functions& driver,
                                    ucs::cuda::CUdeviceptr address) noexcept {
    const unsigned yes = 1;
    static_cast<void>(
        driver.cuPointerSetAttribute(&yes, ucs::cuda::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
}

// Does that once for each allocation, as far as it remembers them. Owner context.
class synchronous_allocations {
public:
    // The context of the memory is current.
    void add(const ucs::cuda::driver_functions& driver,
             const ucs::cuda::device_memory& memory) noexcept {
        std::uint64_t& known = known_[memory.buffer_id % known_.size()];
        // Memory without a context cannot be set.
        if (known == memory.buffer_id || memory.context == nullptr) return;
        known = memory.buffer_id;
        make_writes_synchronous(driver, memory.base);
    }

private:
    std::array<std::uint64_t, 256> known_{};
};

}  // namespace uct::cuda
