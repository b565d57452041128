#include "test/cuda/driver_tests/support.hpp"

namespace standin {

TEST_CASE("data passes through a device") {
    const current_primary primary;
    const std::size_t length = GENERATE(1U, 4096U, 100001U);
    std::vector<char> sent(length);
    for (std::size_t index = 0; index < length; ++index)
        sent[index] = static_cast<char>(index * 7);
    const device_buffer first(length);
    const device_buffer second(length);
    const new_stream stream;
    CHECK(cuMemcpyAsync(first, address_of(sent.data()), length, stream) == CUDA_SUCCESS);
    const std::vector<char> expected = sent;
    // The call has taken its source, which is pageable.
    std::memset(sent.data(), 0, length);
    CHECK(cuMemcpyAsync(second, first, length, stream) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(read(second, length) == expected);
}

TEST_CASE("a copy to pinned memory is not complete when the call returns") {
    const current_primary primary;
    const device_buffer source(64);
    const pinned_buffer target(64);
    const new_stream stream;
    const new_event event;
    REQUIRE(cuMemsetD8_v2(source, 5, 64) == CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    paused_streams paused;
    CHECK(cuMemcpyAsync(target.address(), source, 64, stream) == CUDA_SUCCESS);
    CHECK(cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(target.bytes()[0] != 5);
    CHECK(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    CHECK(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    paused.resume();
    CHECK(cuEventSynchronize(event) == CUDA_SUCCESS);
    CHECK(target.bytes()[63] == 5);
    CHECK(cuEventQuery(event) == CUDA_SUCCESS);
}

TEST_CASE("a copy from pinned memory reads it when the stream gets there") {
    const current_primary primary;
    const device_buffer target(64);
    const pinned_buffer source(64);
    const new_stream stream;
    std::memset(source.bytes(), 1, 64);
    paused_streams paused;
    CHECK(cuMemcpyAsync(target, source.address(), 64, stream) == CUDA_SUCCESS);
    std::memset(source.bytes(), 2, 64);
    paused.resume();
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(read(target, 64) == std::vector<char>(64, 2));
}

TEST_CASE("a copy to pageable memory is complete when the call returns") {
    const current_primary primary;
    const device_buffer source(64);
    const new_stream stream;
    REQUIRE(cuMemsetD8Async(source, 9, 64, stream) == CUDA_SUCCESS);
    std::vector<char> target(64);
    CHECK(cuMemcpyAsync(address_of(target.data()), source, 64, stream) == CUDA_SUCCESS);
    CHECK(target == std::vector<char>(64, 9));
}

TEST_CASE("a synchronous copy within a device waits if the memory asks for it") {
    const current_primary primary;
    const device_buffer source(64);
    const device_buffer target(64);
    CHECK(cuMemcpy(target, source, 64) == CUDA_SUCCESS);
    const unsigned is_set = 1;
    CHECK(cuPointerSetAttribute(&is_set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target) == CUDA_SUCCESS);
    CHECK(cuMemcpy(target, source, 64) == CUDA_SUCCESS);
    CHECK(cuStreamQuery(nullptr) == CUDA_SUCCESS);
}

TEST_CASE("a copy stays within its allocations") {
    const current_primary primary;
    const device_buffer first(512);
    const device_buffer second(512);
    std::vector<char> host(1024);
    CHECK(cuMemcpyHtoD_v2(first, host.data(), 513) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemcpyHtoD_v2(first + 512, host.data(), 512) == CUDA_SUCCESS);
    CHECK(cuMemcpyHtoD_v2(first + (2 << 20), host.data(), 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemcpyHtoD_v2(first, host.data(), 0) == CUDA_SUCCESS);
}

TEST_CASE("an operation on memory that was unregistered breaks its context") {
    const current_primary primary;
    std::vector<char> memory(64);
    const device_buffer source(64);
    REQUIRE(cuMemHostRegister_v2(memory.data(), memory.size(), 0) == CUDA_SUCCESS);
    CUstream stream = nullptr;
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    paused_streams paused;
    CHECK(cuMemcpyAsync(address_of(memory.data()), source, 64, stream) == CUDA_SUCCESS);
    CHECK(cuMemHostUnregister(memory.data()) == CUDA_SUCCESS);
    paused.resume();
    CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuStreamQuery(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CUdeviceptr address = 0;
    CHECK(cuMemAlloc_v2(&address, 16) == CUDA_ERROR_ILLEGAL_ADDRESS);
    // Objects of a broken context are released, although the call returns the error.
    CHECK(cuStreamDestroy_v2(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(standin_live("stream") == 0);
}

}  // namespace standin
