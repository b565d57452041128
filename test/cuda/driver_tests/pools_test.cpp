#include "test/cuda/driver_tests/support.hpp"

namespace standin {

TEST_CASE("memory of a pool belongs to the pool's device and to no context") {
    const current_primary primary(1);
    const new_stream stream;
    CUdeviceptr address = 0;
    REQUIRE(cuMemAllocAsync(&address, 1000, stream) == CUDA_SUCCESS);
    CUmemoryPool pool = nullptr;
    REQUIRE(cuDeviceGetDefaultMemPool(&pool, 1) == CUDA_SUCCESS);
    CHECK(attribute<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) == pool);
    CHECK(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, address) == nullptr);
    CHECK(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == 1);
    CHECK(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CU_MEMORYTYPE_DEVICE);
    CHECK(!attribute<bool>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
    CHECK(cuMemFreeAsync(address, stream) == CUDA_SUCCESS);
    CHECK(cuMemFreeAsync(address, stream) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemPoolDestroy(pool) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a stream uses freed memory of a pool again at once") {
    const current_primary primary;
    const new_stream stream;
    const pinned_buffer result(16);
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    paused_streams paused;
    REQUIRE(cuMemAllocAsync(&first, 1000, stream) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD8Async(first, 1, 1000, stream) == CUDA_SUCCESS);
    REQUIRE(cuMemcpyAsync(result.address(), first, 16, stream) == CUDA_SUCCESS);
    const std::uint64_t id = buffer_id(first);
    REQUIRE(cuMemFreeAsync(first, stream) == CUDA_SUCCESS);
    CHECK(cuMemsetD8Async(first, 9, 16, stream) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuMemAllocAsync(&second, 1000, stream) == CUDA_SUCCESS);
    CHECK(first == second);
    CHECK(buffer_id(second) != id);
    REQUIRE(cuMemsetD8Async(second, 2, 1000, stream) == CUDA_SUCCESS);
    paused.resume();
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(result.bytes()[15] == 1);
    CHECK(read(second, 1)[0] == 2);
    CHECK(cuMemFree_v2(second) == CUDA_SUCCESS);
    CHECK(standin_live("pool memory") == 0);
}

TEST_CASE("another stream must wait for memory of a pool") {
    const current_primary primary;
    const new_stream first;
    const new_stream second;
    const pinned_buffer flag(8);
    std::memset(flag.bytes(), 0, 8);
    REQUIRE(cuStreamWaitValue64_v2(first, flag.address(), 1, CU_STREAM_WAIT_VALUE_GEQ) ==
            CUDA_SUCCESS);
    CUdeviceptr address = 0;
    REQUIRE(cuMemAllocAsync(&address, 1000, first) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD8Async(address, 1, 16, second) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(second) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuMemFree_v2(address) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(standin_live("pool memory") == 0);
}

TEST_CASE("a pool that a program has made lives as long as its memory") {
    const current_primary primary;
    const new_stream stream;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    REQUIRE(cuMemPoolCreate(&pool, &properties) == CUDA_SUCCESS);
    CUdeviceptr address = 0;
    REQUIRE(cuMemAllocFromPoolAsync(&address, 5 << 20, pool, stream) == CUDA_SUCCESS);
    CHECK(cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    CHECK(cuMemPoolDestroy(pool) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemsetD8Async(address, 1, 5 << 20, stream) == CUDA_SUCCESS);
    CHECK(cuMemFreeAsync(address, stream) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(cuMemAllocFromPoolAsync(&address, 16, pool, stream) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("the null stream of _ptsz functions is the thread's own") {
    const current_primary primary;
    CUdeviceptr address = 0;
    REQUIRE(cuMemAllocAsync_ptsz(&address, 100, nullptr) == CUDA_SUCCESS);
    const CUstream per_thread = reinterpret_cast<CUstream>(2);
    CHECK(cuMemsetD8Async(address, 1, 100, per_thread) == CUDA_SUCCESS);
    CHECK(cuMemFreeAsync_ptsz(address, nullptr) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(per_thread) == CUDA_SUCCESS);
}

}  // namespace standin
