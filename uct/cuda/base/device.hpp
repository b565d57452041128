// The CUDA devices that this process sees.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ucs/cuda/driver.hpp"
#include "ucs/topology/device_location.hpp"
#include "ucs/type/result.hpp"

namespace uct::cuda {

// A plain value.
struct device {
    int ordinal = 0;  // as cuDeviceGet and the properties of pointers count
    ucs::cuda::CUdevice handle = 0;
    std::string name;  // "NVIDIA H100 80GB HBM3"
    std::array<std::byte, 16> uuid{};
    ucs::topology::device_location location;
    int capability_major = 0;  // 9.0: Hopper
    int capability_minor = 0;
    std::size_t memory = 0;  // bytes
    std::vector<int> peers;  // ordinals of the devices whose memory it can access

    [[nodiscard]] bool can_access(int other) const noexcept;
    // Names the device in keys; equal in all processes that see it.
    [[nodiscard]] std::uint64_t number() const noexcept;
    // "GPU-01234567-…", as nvidia-smi writes it.
    [[nodiscard]] std::string uuid_text() const;
};

// Returns one device, without its peers. The driver must be initialized. Failures are logged. Any
// thread.
[[nodiscard]] ucs::result<device> find_device(const ucs::cuda::driver_functions& driver,
                                              int ordinal);

// Returns the devices in the order of their ordinals. The driver must be initialized. Devices that
// the driver does not describe are left out, which is logged. Any thread.
[[nodiscard]] std::vector<device> list_devices(const ucs::cuda::driver_functions& driver);

}  // namespace uct::cuda
