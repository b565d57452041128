#include <atomic>
#include <thread>

#include "test/cuda/driver_tests/support.hpp"

namespace standin {
namespace {

class no_faults_left {
public:
    no_faults_left() = default;
    ~no_faults_left() { standin_clear_faults(); }
    no_faults_left(const no_faults_left&) = delete;
    no_faults_left& operator=(const no_faults_left&) = delete;
};

}  // namespace

TEST_CASE("the n-th call of a function fails") {
    const current_primary primary;
    const no_faults_left cleared;
    standin_fail("cuEventCreate", 2, CUDA_ERROR_OUT_OF_MEMORY);
    const new_event first;
    CUevent event = nullptr;
    CHECK(cuEventCreate(&event, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    const new_event third;
}

TEST_CASE("an operation that fails breaks its context, and no other") {
    const current_primary other(1);
    const current_primary primary(0);
    const no_faults_left cleared;
    const new_stream stream;
    const device_buffer buffer(16);
    standin_fail("operation", 1, CUDA_ERROR_LAUNCH_FAILED);
    REQUIRE(cuMemsetD8Async(buffer, 1, 16, stream) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
    CUcontext popped = nullptr;
    REQUIRE(cuCtxPopCurrent_v2(&popped) == CUDA_SUCCESS);
    CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
    REQUIRE(cuCtxPushCurrent_v2(popped) == CUDA_SUCCESS);
}

TEST_CASE("all calls for a lost device fail") {
    const current_primary primary;
    const new_stream stream;
    const device_buffer buffer(16);
    standin_lose_device(0, CUDA_ERROR_DEVICE_UNAVAILABLE);
    CHECK(cuMemsetD8Async(buffer, 1, 16, stream) == CUDA_ERROR_DEVICE_UNAVAILABLE);
    CHECK(cuStreamQuery(stream) == CUDA_ERROR_DEVICE_UNAVAILABLE);
    CUdevice device = 0;
    CHECK(cuDeviceGet(&device, 0) == CUDA_ERROR_DEVICE_UNAVAILABLE);
    CHECK(cuDeviceGet(&device, 1) == CUDA_SUCCESS);
    standin_lose_device(-1, CUDA_ERROR_UNKNOWN);
    CHECK(cuDeviceGet(&device, 1) == CUDA_ERROR_UNKNOWN);
    standin_lose_device(-1, CUDA_SUCCESS);
    CHECK(cuStreamQuery(stream) == CUDA_SUCCESS);
}

TEST_CASE("streams of a lost device end their work") {
    const current_primary primary;
    const new_stream stream;
    const new_event event;
    const pinned_buffer flag(8);
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(flag.bytes());
    word = 0;
    REQUIRE(cuStreamWaitValue64_v2(stream, flag.address(), 1, CU_STREAM_WAIT_VALUE_GEQ) ==
            CUDA_SUCCESS);
    REQUIRE(cuEventRecord(event, stream) == CUDA_SUCCESS);
    std::thread loser([] { standin_lose_device(0, CUDA_ERROR_DEVICE_UNAVAILABLE); });
    CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_DEVICE_UNAVAILABLE);
    loser.join();
    CHECK(cuEventQuery(event) == CUDA_ERROR_DEVICE_UNAVAILABLE);
    // If the stream has not noticed, it goes on.
    word = 1;
    standin_lose_device(0, CUDA_SUCCESS);
    CHECK(cuEventSynchronize(event) == CUDA_SUCCESS);
}

TEST_CASE("calls are counted by function") {
    const current_primary primary;
    standin_reset_calls();
    const new_event event;
    static_cast<void>(cuEventQuery(event));
    static_cast<void>(cuEventQuery(event));
    CHECK(standin_calls("cuEventQuery") == 2);
    CHECK(standin_calls("cuEventCreate") == 1);
    CHECK(standin_calls(nullptr) == 3);
}

TEST_CASE("live objects are listed") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    CHECK(standin_live(nullptr) == 0);
    const current_primary primary;
    const device_buffer buffer(1000);
    const new_event event;
    CHECK(standin_live("context") == 1);
    CHECK(standin_live("device memory") == 1);
    CHECK(standin_live("event") == 1);
    CHECK(standin_live(nullptr) == 3);
    std::string text(standin_list_live(nullptr, 0) + 1, '\0');
    standin_list_live(text.data(), text.size());
    CHECK(text.find("device memory 1000 bytes at 0x") != std::string::npos);
}

}  // namespace standin
