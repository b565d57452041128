// Chooses the device of this process by which a peer's memory is accessed, and maps it.
#pragma once

#include <mutex>
#include <vector>

#include "uct/cuda/base/device.hpp"
#include "uct/cuda/ipc/mapping.hpp"

namespace uct::cuda {

// Returns the ordinals of the devices to try, the best one first. `home`: the number of the device
// that has the memory. `active`: whether the process uses each device. A device that the process
// uses already comes before others, because a context takes hundreds of megabytes: first that of
// the memory, then those that can access it. If this process does not see that device, all may be
// able to. Pure.
[[nodiscard]] std::vector<int> devices_to_try(const std::vector<device>& all, std::uint64_t home,
                                              const std::vector<bool>& active);

// Any thread.
class opener {
public:
    // Maps the memory of a key. Failures are not logged; `problem` has the reason. May throw
    // std::bad_alloc.
    [[nodiscard]] opened_mapping open(const ucs::cuda::driver_functions& driver,
                                      const ipc_key& key);

private:
    [[nodiscard]] std::vector<int> choose(const ucs::cuda::driver_functions& driver,
                                          std::uint64_t home);

    std::mutex lock_;
    std::vector<device> devices_;  // read once, when there are some
};

}  // namespace uct::cuda
