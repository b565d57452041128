#include "test/cuda/driver/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "test/cuda/driver/call.hpp"
#include "test/cuda/driver/settings.hpp"
#include "test/cuda/driver/standin.h"

namespace standin {
namespace {

CUresult all_lost = CUDA_SUCCESS;

CUuuid make_uuid(int index) {
    CUuuid made{};
    std::memcpy(made.bytes, "stand-in GPU", 12);
    made.bytes[15] = static_cast<char>(index);
    return made;
}

std::string pci_place_of(int index) {
    const auto& places = options().pci_places;
    if (static_cast<std::size_t>(index) < places.size())
        return places[static_cast<std::size_t>(index)];
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02x:00", static_cast<unsigned>(0x10 + index) & 0xffU);
    return text;
}

struct pci_numbers {
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
};

pci_numbers pci_of(const device& described) {
    pci_numbers numbers;
    std::sscanf(described.pci_place.c_str(), "%x:%x:%x", &numbers.domain, &numbers.bus,
                &numbers.slot);
    return numbers;
}

std::vector<std::unique_ptr<device>> make_devices() {
    std::vector<std::unique_ptr<device>> made;
    for (const int index : options().visible) {
        auto each = std::make_unique<device>();
        each->ordinal = static_cast<int>(made.size());
        each->index = index;
        each->uuid = make_uuid(index);
        each->name = "Stand-in GPU";
        each->pci_place = pci_place_of(index);
        each->total_bytes = options().memory_bytes;
        made.push_back(std::move(each));
    }
    return made;
}

// Attributes that Hawser does not name; programs may ask for any.
constexpr int max_threads_per_block = 1;
constexpr int max_shared_memory_per_block = 8;
constexpr int warp_size = 10;
constexpr int can_map_host_memory = 19;
constexpr int async_engine_count = 40;
constexpr int can_use_64_bit_stream_mem_ops = 93;
constexpr int can_use_host_pointer_for_registered_mem = 91;

int attribute_of(const device& asked, int attribute) {
    switch (attribute) {
        case max_threads_per_block:
            return 1024;
        case max_shared_memory_per_block:
            return 48 << 10;
        case warp_size:
            return 32;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return 4;
        case can_map_host_memory:
        case can_use_64_bit_stream_mem_ops:
        case can_use_host_pointer_for_registered_mem:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
            return 1;
        case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
            return options().has_dma_buf ? 1 : 0;
        case async_engine_count:
            return 2;
        case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
            return static_cast<int>(pci_of(asked).domain);
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
            return static_cast<int>(pci_of(asked).bus);
        case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
            return static_cast<int>(pci_of(asked).slot);
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
            return 2619000;  // kHz
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
            return 5120;  // bits
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return 9;
        default:
            return 0;
    }
}

}  // namespace

const std::vector<std::unique_ptr<device>>& devices() {
    static const auto& only = *new std::vector<std::unique_ptr<device>>(make_devices());
    return only;
}

device& find_device(CUdevice ordinal) {
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices().size())
        fail(CUDA_ERROR_INVALID_DEVICE, "no device has this ordinal");
    device& found = *devices()[static_cast<std::size_t>(ordinal)];
    if (found.lost != CUDA_SUCCESS) fail(found.lost, "the device is lost");
    return found;
}

device* find_device(const CUuuid& uuid) {
    for (const auto& each : devices())
        if (std::memcmp(each->uuid.bytes, uuid.bytes, sizeof uuid.bytes) == 0) return each.get();
    return nullptr;
}

bool can_access_peer(const device& from, const device& to) {
    return from.index != to.index &&
           !options().without_peer_access.contains({from.index, to.index});
}

void check_any_device_left() {
    if (all_lost != CUDA_SUCCESS) fail(all_lost, "all devices are lost");
}

CUresult cuDeviceGetCount(int* count) {
    return call(function::cuDeviceGetCount, [&](held_lock&) {
        check_pointer(count);
        *count = static_cast<int>(devices().size());
    });
}

CUresult cuDeviceGet(CUdevice* found, int ordinal) {
    return call(function::cuDeviceGet, [&](held_lock&) {
        check_pointer(found);
        *found = find_device(ordinal).ordinal;
    });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice asked) {
    return call(function::cuDeviceGetName, [&](held_lock&) {
        check_pointer(name);
        check_argument(length > 0, "the length must be positive");
        std::snprintf(name, static_cast<std::size_t>(length), "%s",
                      find_device(asked).name.c_str());
    });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice asked) {
    return call(function::cuDeviceGetUuid, [&](held_lock&) {
        check_pointer(uuid);
        *uuid = find_device(asked).uuid;
    });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice asked) {
    return call(function::cuDeviceGetAttribute, [&](held_lock&) {
        check_pointer(value);
        check_argument(attribute > 0, "there is no such attribute");
        *value = attribute_of(find_device(asked), attribute);
    });
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice asked) {
    return call(function::cuDeviceTotalMem_v2, [&](held_lock&) {
        check_pointer(bytes);
        *bytes = find_device(asked).total_bytes;
    });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice asked) {
    return call(function::cuDeviceGetPCIBusId, [&](held_lock&) {
        check_pointer(text);
        check_argument(length > 0, "the length must be positive");
        std::snprintf(text, static_cast<std::size_t>(length), "%s.0",
                      find_device(asked).pci_place.c_str());
    });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
    return call(function::cuDeviceCanAccessPeer, [&](held_lock&) {
        check_pointer(can);
        *can = can_access_peer(find_device(from), find_device(to)) ? 1 : 0;
    });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to) {
    return call(function::cuDeviceGetP2PAttribute, [&](held_lock&) {
        check_pointer(value);
        device& source = find_device(from);
        device& target = find_device(to);
        if (&source == &target) fail(CUDA_ERROR_INVALID_DEVICE, "both devices are the same");
        const bool has_access = can_access_peer(source, target);
        *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED && has_access ? 1 : 0;
    });
}

}  // namespace standin

void standin_lose_device(int ordinal, int result) {
    using namespace standin;
    const held_lock lock(state_lock());
    if (ordinal == -1) all_lost = static_cast<CUresult>(result);
    for (const auto& each : devices())
        if (ordinal == -1 || each->ordinal == ordinal) each->lost = static_cast<CUresult>(result);
    state_changed().notify_all();
}
