// Objects of the driver for the tests of the stand-in.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "test/cuda/driver/functions.hpp"
#include "test/cuda/driver/standin.h"

namespace standin {

// Makes the primary context of a device current for a scope. These tests run with three devices, of
// which 0 and 2 have no peer access.
class current_primary {
public:
    explicit current_primary(CUdevice device = 0) : device_(device) {
        REQUIRE(cuInit(0) == CUDA_SUCCESS);
        REQUIRE(cuDevicePrimaryCtxRetain(&handle_, device) == CUDA_SUCCESS);
        REQUIRE(cuCtxPushCurrent_v2(handle_) == CUDA_SUCCESS);
    }
    ~current_primary() {
        CUcontext popped = nullptr;
        cuCtxPopCurrent_v2(&popped);
        cuDevicePrimaryCtxRelease_v2(device_);
    }
    current_primary(const current_primary&) = delete;
    current_primary& operator=(const current_primary&) = delete;

    [[nodiscard]] CUcontext handle() const { return handle_; }

private:
    CUdevice device_;
    CUcontext handle_ = nullptr;
};

class new_stream {
public:
    explicit new_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
        REQUIRE(cuStreamCreate(&handle_, flags) == CUDA_SUCCESS);
    }
    ~new_stream() { cuStreamDestroy_v2(handle_); }
    new_stream(const new_stream&) = delete;
    new_stream& operator=(const new_stream&) = delete;

    operator CUstream() const { return handle_; }

private:
    CUstream handle_ = nullptr;
};

class new_event {
public:
    explicit new_event(unsigned flags = CU_EVENT_DISABLE_TIMING) {
        REQUIRE(cuEventCreate(&handle_, flags) == CUDA_SUCCESS);
    }
    ~new_event() { cuEventDestroy_v2(handle_); }
    new_event(const new_event&) = delete;
    new_event& operator=(const new_event&) = delete;

    operator CUevent() const { return handle_; }

private:
    CUevent handle_ = nullptr;
};

class device_buffer {
public:
    explicit device_buffer(std::size_t length) {
        REQUIRE(cuMemAlloc_v2(&address_, length) == CUDA_SUCCESS);
    }
    ~device_buffer() { cuMemFree_v2(address_); }
    device_buffer(const device_buffer&) = delete;
    device_buffer& operator=(const device_buffer&) = delete;

    operator CUdeviceptr() const { return address_; }

private:
    CUdeviceptr address_ = 0;
};

class pinned_buffer {
public:
    explicit pinned_buffer(std::size_t length) {
        REQUIRE(cuMemHostAlloc(&address_, length, 0) == CUDA_SUCCESS);
    }
    ~pinned_buffer() { cuMemFreeHost(address_); }
    pinned_buffer(const pinned_buffer&) = delete;
    pinned_buffer& operator=(const pinned_buffer&) = delete;

    [[nodiscard]] char* bytes() const { return static_cast<char*>(address_); }
    [[nodiscard]] CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(address_); }

private:
    void* address_ = nullptr;
};

// No stream begins an operation while this lives.
class paused_streams {
public:
    paused_streams() { standin_pause_streams(1); }
    ~paused_streams() { resume(); }
    paused_streams(const paused_streams&) = delete;
    paused_streams& operator=(const paused_streams&) = delete;

    void resume() { standin_pause_streams(0); }
};

[[nodiscard]] inline CUdeviceptr address_of(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

// Reads memory of a device.
[[nodiscard]] inline std::vector<char> read(CUdeviceptr address, std::size_t length) {
    std::vector<char> bytes(length);
    REQUIRE(cuMemcpyDtoH_v2(bytes.data(), address, length) == CUDA_SUCCESS);
    return bytes;
}

template<class Value>
[[nodiscard]] Value attribute(CUpointer_attribute asked, CUdeviceptr address) {
    Value value{};
    REQUIRE(cuPointerGetAttribute(&value, asked, address) == CUDA_SUCCESS);
    return value;
}

[[nodiscard]] inline std::uint64_t buffer_id(CUdeviceptr address) {
    return attribute<std::uint64_t>(CU_POINTER_ATTRIBUTE_BUFFER_ID, address);
}

}  // namespace standin
