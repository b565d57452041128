#include "uct/cuda/base/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

int attribute(const driver_functions& driver, CUdevice handle, CUdevice_attribute wanted) noexcept {
    int value = 0;
    return driver.cuDeviceGetAttribute(&value, wanted, handle) == CUDA_SUCCESS ? value : 0;
}

ucs::topology::device_location locate(const driver_functions& driver, CUdevice handle) {
    const auto number = [&](CUdevice_attribute wanted) {
        return static_cast<unsigned>(attribute(driver, handle, wanted));
    };
    const ucs::topology::pci_address address{
        number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
        static_cast<std::uint8_t>(number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)),
        static_cast<std::uint8_t>(number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)), 0};
    std::error_code missing;
    const auto folder =
        std::filesystem::canonical("/sys/bus/pci/devices/" + address.text(), missing);
    if (missing) return {.pci = address};
    ucs::topology::device_location found = ucs::topology::device_location::read(folder.string());
    found.pci = address;
    return found;
}

ucs_status_t describe(const driver_functions& driver, device& into) {
    ucs_status_t status = check(driver.cuDeviceGet(&into.handle, into.ordinal), "cuDeviceGet");
    if (status != UCS_OK) return status;
    std::array<char, 256> name{};
    CUuuid uuid{};
    status = check(driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()), into.handle),
                   "cuDeviceGetName");
    if (status != UCS_OK) return status;
    status = check(driver.cuDeviceGetUuid(&uuid, into.handle), "cuDeviceGetUuid");
    if (status != UCS_OK) return status;
    into.name = name.data();
    std::memcpy(into.uuid.data(), uuid.bytes, sizeof uuid.bytes);
    into.location = locate(driver, into.handle);
    into.capability_major =
        attribute(driver, into.handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    into.capability_minor =
        attribute(driver, into.handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return check(driver.cuDeviceTotalMem_v2(&into.memory, into.handle), "cuDeviceTotalMem_v2");
}

void find_peers(const driver_functions& driver, std::vector<device>& all) {
    for (device& one : all) {
        for (const device& other : all) {
            int can_access = 0;
            if (one.ordinal == other.ordinal) continue;
            const CUresult outcome =
                driver.cuDeviceCanAccessPeer(&can_access, one.handle, other.handle);
            if (outcome == CUDA_SUCCESS && can_access != 0) one.peers.push_back(other.ordinal);
        }
    }
}

}  // namespace

bool device::can_access(int other) const noexcept {
    return other == ordinal || std::ranges::find(peers, other) != peers.end();
}

std::uint64_t device::number() const noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, uuid.data(), sizeof halves);
    return halves[0] ^ (halves[1] * 0x9e3779b97f4a7c15U);
}

std::string device::uuid_text() const {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned>(uuid[i]));
    }
    return text;
}

ucs::result<device> find_device(const driver_functions& driver, int ordinal) {
    device found;
    found.ordinal = ordinal;
    const ucs_status_t status = describe(driver, found);
    if (status != UCS_OK) return status;
    return found;
}

std::vector<device> list_devices(const driver_functions& driver) {
    int count = 0;
    std::vector<device> found;
    if (check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount") != UCS_OK) return found;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        if (auto each = find_device(driver, ordinal)) found.push_back(std::move(*each));
    }
    find_peers(driver, found);
    return found;
}

}  // namespace uct::cuda
