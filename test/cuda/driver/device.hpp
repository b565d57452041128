// The devices that the stand-in shows.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "test/cuda/driver/functions.hpp"

namespace standin {

// Lives as long as the process. The lock guards what is not atomic.
struct device {
    int ordinal;  // in this process
    int index;    // among all devices, which is the same in all processes
    CUuuid uuid;
    std::string name;
    std::string pci_place;  // domain:bus:device
    std::size_t total_bytes;
    std::atomic<std::size_t> used_bytes{0};
    CUresult lost = CUDA_SUCCESS;  // what calls return once the device is lost
};

// The devices by ordinal. The list is made at the first call and never changes.
const std::vector<std::unique_ptr<device>>& devices();

// Returns a device, or fails with CUDA_ERROR_INVALID_DEVICE. Fails if the device is lost.
device& find_device(CUdevice ordinal);

// Returns the device of this process with this id; null if it has none.
device* find_device(const CUuuid& uuid);

[[nodiscard]] bool can_access_peer(const device& from, const device& to);

// Fails if a test has made all devices unusable.
void check_any_device_left();

}  // namespace standin
