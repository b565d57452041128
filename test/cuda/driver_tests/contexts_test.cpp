#include <thread>

#include "test/cuda/driver_tests/support.hpp"

namespace standin {

TEST_CASE("a thread without a context can allocate nothing") {
    const current_primary primary;
    CUresult outcome = CUDA_SUCCESS;
    std::thread([&] {
        CUdeviceptr address = 0;
        outcome = cuMemAlloc_v2(&address, 16);
    }).join();
    CHECK(outcome == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("a primary context is one object while it is retained") {
    unsigned long long first_id = 0;
    unsigned long long second_id = 0;
    CUcontext handle = nullptr;
    {
        const current_primary outer;
        const current_primary inner;
        handle = outer.handle();
        CHECK(inner.handle() == handle);
        CHECK(cuCtxGetId(handle, &first_id) == CUDA_SUCCESS);
    }
    CHECK(cuCtxPushCurrent_v2(handle) == CUDA_ERROR_INVALID_CONTEXT);
    const current_primary again;
    CHECK(again.handle() == handle);
    CHECK(cuCtxGetId(handle, &second_id) == CUDA_SUCCESS);
    CHECK(first_id != second_id);
}

TEST_CASE("a primary context that is not retained cannot be released") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    CHECK(cuDevicePrimaryCtxRelease_v2(0) == CUDA_ERROR_INVALID_CONTEXT);
    unsigned flags = 1;
    int is_active = 1;
    CHECK(cuDevicePrimaryCtxGetState(0, &flags, &is_active) == CUDA_SUCCESS);
    CHECK(is_active == 0);
}

TEST_CASE("a context that is destroyed frees its objects and stays on stacks of threads") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    CUcontext made = nullptr;
    REQUIRE(cuCtxCreate_v2(&made, 0, 1) == CUDA_SUCCESS);
    CUdevice device = -1;
    CHECK(cuCtxGetDevice(&device) == CUDA_SUCCESS);
    CHECK(device == 1);
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    REQUIRE(cuMemAlloc_v2(&memory, 100) == CUDA_SUCCESS);
    REQUIRE(cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
    std::thread([&] { CHECK(cuCtxDestroy_v2(made) == CUDA_SUCCESS); }).join();
    CHECK(standin_live(nullptr) == 0);
    CHECK(cuStreamQuery(stream) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuMemFree_v2(memory) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CUcontext current = nullptr;
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    CHECK(current == made);
    CHECK(cuCtxPopCurrent_v2(&current) == CUDA_SUCCESS);
    CHECK(cuCtxPopCurrent_v2(&current) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("peer access is enabled once, and where the devices allow it") {
    const current_primary peer(1);
    const current_primary far(2);
    const current_primary near(0);
    int can = 0;
    CHECK(cuDeviceCanAccessPeer(&can, 0, 1) == CUDA_SUCCESS);
    CHECK(can == 1);
    CHECK(cuDeviceCanAccessPeer(&can, 0, 2) == CUDA_SUCCESS);
    CHECK(can == 0);
    CHECK(cuCtxEnablePeerAccess(peer.handle(), 0) == CUDA_SUCCESS);
    CHECK(cuCtxEnablePeerAccess(peer.handle(), 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    CHECK(cuCtxEnablePeerAccess(far.handle(), 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    CHECK(cuCtxEnablePeerAccess(near.handle(), 0) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("devices are told apart by id, place and ordinal") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    int count = 0;
    CHECK(cuDeviceGetCount(&count) == CUDA_SUCCESS);
    CHECK(count == 3);
    CUuuid first{};
    CUuuid second{};
    CHECK(cuDeviceGetUuid(&first, 0) == CUDA_SUCCESS);
    CHECK(cuDeviceGetUuid(&second, 1) == CUDA_SUCCESS);
    CHECK(std::memcmp(first.bytes, second.bytes, sizeof first.bytes) != 0);
    char place[32];
    CHECK(cuDeviceGetPCIBusId(place, sizeof place, 1) == CUDA_SUCCESS);
    CHECK(std::string(place) == "0000:11:00.0");
    int bus = 0;
    CHECK(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1) == CUDA_SUCCESS);
    CHECK(bus == 0x11);
    CUdevice device = 0;
    CHECK(cuDeviceGet(&device, 3) == CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace standin
