// Memory of every kind that CUDA has, for programs that use the driver as clients do.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "ucs/cuda/driver_api.hpp"

namespace cuda_test {

using namespace ucs::cuda;

// The driver, as a program sees it that is linked with nothing. Initialized with the first use.
class driver {
public:
    // Returns nullptr if there is no driver or no device.
    static const driver* find() {
        static const driver only;
        return only.devices_ > 0 ? &only : nullptr;
    }
    // Calls a function by its name: call<decltype(&f)>("f", arguments…). Throws if it fails.
    template<class... Parameters, class... Arguments>
    void call(CUresult (*)(Parameters...), const char* name, Arguments... arguments) const {
        const auto found = reinterpret_cast<CUresult (*)(Parameters...)>(::dlsym(library_, name));
        if (found == nullptr) throw std::runtime_error(std::string("no ") + name);
        const CUresult outcome = found(arguments...);
        if (outcome != CUDA_SUCCESS)
            throw std::runtime_error(std::string(name) + " failed: " + std::to_string(outcome));
    }
    [[nodiscard]] int devices() const { return devices_; }

private:
    driver();
    void* library_ = nullptr;
    int devices_ = 0;
};

#define CUDA_TEST_FUNCTION(name, parameters)                                                     \
    template<class... Arguments>                                                                 \
    void name(Arguments... arguments) {                                                          \
        driver::find()->call(static_cast<CUresult(*) parameters>(nullptr), #name, arguments...); \
    }
UCS_CUDA_FUNCTIONS(CUDA_TEST_FUNCTION)
UCS_CUDA_NEWER_FUNCTIONS(CUDA_TEST_FUNCTION)
CUDA_TEST_FUNCTION(cuCtxSetCurrent, (CUcontext context))
#undef CUDA_TEST_FUNCTION

inline driver::driver() {
    library_ = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    const auto init = reinterpret_cast<CUresult (*)(unsigned)>(::dlsym(library_, "cuInit"));
    const auto count = reinterpret_cast<CUresult (*)(int*)>(::dlsym(library_, "cuDeviceGetCount"));
    if (init(0) != CUDA_SUCCESS || count(&devices_) != CUDA_SUCCESS) devices_ = 0;
}

// Makes the primary context of a device current in this thread, for the life of the object.
class current_device {
public:
    explicit current_device(int ordinal = 0) {
        cuDeviceGet(&device_, ordinal);
        CUcontext context = nullptr;
        cuDevicePrimaryCtxRetain(&context, device_);
        cuCtxPushCurrent_v2(context);
    }
    ~current_device() {
        CUcontext popped = nullptr;
        cuCtxPopCurrent_v2(&popped);
        cuDevicePrimaryCtxRelease_v2(device_);
    }
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;
    [[nodiscard]] int device() const { return device_; }

private:
    CUdevice device_ = 0;
};

enum class kind { host, pinned, device, managed, pool, virtual_memory };
inline constexpr std::array all_kinds{kind::host,    kind::pinned, kind::device,
                                      kind::managed, kind::pool,   kind::virtual_memory};

inline const char* name_of(kind which) {
    constexpr std::array names{"host", "pinned", "device", "managed", "pool", "virtual memory"};
    return names[static_cast<std::size_t>(which)];
}

// Memory of one kind, on the current device. A stream of its own moves the bytes, so no test
// depends on the order of other streams.
class memory {
public:
    memory(kind which, std::size_t length) : kind_(which), length_(length == 0 ? 1 : length) {
        if (kind_ != kind::host) cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
        allocate();
    }
    memory(kind which, const std::vector<std::byte>& bytes) : memory(which, bytes.size()) {
        write(bytes);
    }
    ~memory() {
        release();
        if (stream_ != nullptr) cuStreamDestroy_v2(stream_);
    }
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;

    [[nodiscard]] std::byte* data() const { return reinterpret_cast<std::byte*>(address_); }
    [[nodiscard]] std::size_t size() const { return length_; }

    void write(const std::vector<std::byte>& bytes, std::size_t offset = 0) {
        copy(address_ + offset, reinterpret_cast<CUdeviceptr>(bytes.data()), bytes.size());
    }
    [[nodiscard]] std::vector<std::byte> read(std::size_t offset, std::size_t length) const {
        std::vector<std::byte> bytes(length);
        copy(reinterpret_cast<CUdeviceptr>(bytes.data()), address_ + offset, length);
        return bytes;
    }
    [[nodiscard]] std::vector<std::byte> read() const { return read(0, length_); }

private:
    void copy(CUdeviceptr to, CUdeviceptr from, std::size_t length) const {
        if (length == 0) return;
        if (kind_ == kind::host) {
            std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), length);
            return;
        }
        cuMemcpyAsync(to, from, length, stream_);
        cuStreamSynchronize(stream_);
    }
    void allocate() {
        void* host = nullptr;
        switch (kind_) {
            case kind::host:
                address_ = reinterpret_cast<CUdeviceptr>(new std::byte[length_]{});
                return;
            case kind::pinned:
                cuMemHostAlloc(&host, length_, CU_MEMHOSTALLOC_PORTABLE);
                address_ = reinterpret_cast<CUdeviceptr>(host);
                break;
            case kind::device:
                cuMemAlloc_v2(&address_, length_);
                break;
            case kind::managed:
                cuMemAllocManaged(&address_, length_, CU_MEM_ATTACH_GLOBAL);
                break;
            case kind::pool:
                cuMemAllocAsync(&address_, length_, stream_);
                break;
            case kind::virtual_memory:
                map();
                break;
        }
        cuMemsetD8Async(address_, static_cast<unsigned char>(0), length_, stream_);
        cuStreamSynchronize(stream_);
    }
    void map() {
        CUdevice device = 0;
        cuCtxGetDevice(&device);
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
        std::size_t unit = 0;
        cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
        mapped_ = (length_ + unit - 1) / unit * unit;
        cuMemCreate(&handle_, mapped_, &properties, 0ULL);
        cuMemAddressReserve(&address_, mapped_, std::size_t{0}, CUdeviceptr{0}, 0ULL);
        cuMemMap(address_, mapped_, std::size_t{0}, handle_, 0ULL);
        const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        cuMemSetAccess(address_, mapped_, &access, std::size_t{1});
    }
    void release() {
        switch (kind_) {
            case kind::host:
                delete[] reinterpret_cast<std::byte*>(address_);
                return;
            case kind::pinned:
                cuMemFreeHost(reinterpret_cast<void*>(address_));
                return;
            case kind::device:
            case kind::managed:
                cuMemFree_v2(address_);
                return;
            case kind::pool:
                cuMemFreeAsync(address_, stream_);
                cuStreamSynchronize(stream_);
                return;
            case kind::virtual_memory:
                cuMemUnmap(address_, mapped_);
                cuMemAddressFree(address_, mapped_);
                cuMemRelease(handle_);
                return;
        }
    }

    const kind kind_;
    const std::size_t length_;
    std::size_t mapped_ = 0;
    CUdeviceptr address_ = 0;
    CUmemGenericAllocationHandle handle_ = 0;
    CUstream stream_ = nullptr;
};

}  // namespace cuda_test
