// The allocations behind a range of device memory that cuMemMap has mapped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucs/type/result.hpp"
#include "uct/cuda/ipc/broker.hpp"

namespace uct::cuda {

struct exported_range {
    std::uint64_t base = 0;  // address of the first allocation
    std::uint64_t length = 0;
    std::vector<exported_part> all;  // adjacent
};

// Returns the allocations, which stay allocated while the result exists. Returns
// UCS_ERR_UNSUPPORTED, without a log line, if one of them cannot be passed on as a descriptor, such
// as memory of pools. May throw std::bad_alloc. Any thread.
[[nodiscard]] ucs::result<exported_range> retain_parts(const ucs::cuda::driver_functions& driver,
                                                       std::span<const std::byte> bytes);

}  // namespace uct::cuda
