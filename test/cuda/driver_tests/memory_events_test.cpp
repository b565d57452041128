// libucm replaces functions of the stand-in, as it does with those of a driver.
#include "test/cuda/driver_tests/support.hpp"
#include "test/unit/ucm/event/recorder.hpp"

namespace standin {
namespace {

// Receives the events of a case.
struct watched_memory {
    watched_memory() { REQUIRE(handler.status() == UCS_OK); }

    // Checks that there was one event since the last check.
    void check(ucm_event_type_t type, CUdeviceptr address, std::size_t size,
               ucs_memory_type_t memory_type = UCS_MEMORY_TYPE_CUDA) {
        REQUIRE(seen.entries.size() == 1);
        CHECK(seen.entries[0].type == type);
        const auto& event = seen.entries[0].event.mem_type;
        CHECK(event.address == reinterpret_cast<void*>(address));
        CHECK(event.size == size);
        CHECK(event.mem_type == memory_type);
        seen.entries.clear();
    }

    const current_primary primary;
    test::recorder seen;
    test::scoped_handler handler{seen, UCM_EVENT_MEM_TYPE_ALLOC | UCM_EVENT_MEM_TYPE_FREE};
};

}  // namespace

TEST_CASE_METHOD(watched_memory, "libucm reports memory that the driver allocates and frees") {
    CUdeviceptr address = 0;

    SECTION("cuMemAlloc") {
        REQUIRE(cuMemAlloc_v2(&address, 1000) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, 1000);
        REQUIRE(cuMemFree_v2(address) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_FREE, address, 1000);
    }
    SECTION("cuMemAllocPitch") {
        std::size_t pitch = 0;
        REQUIRE(cuMemAllocPitch_v2(&address, &pitch, 100, 3, 4) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, 3 * pitch);
        REQUIRE(cuMemFree_v2(address) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_FREE, address, 3 * pitch);
    }
    SECTION("cuMemAllocManaged") {
        REQUIRE(cuMemAllocManaged(&address, 5000, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, 5000, UCS_MEMORY_TYPE_CUDA_MANAGED);
        REQUIRE(cuMemFree_v2(address) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_FREE, address, 5000, UCS_MEMORY_TYPE_CUDA_MANAGED);
    }
    SECTION("cuMemAllocAsync") {
        const new_stream stream;
        REQUIRE(cuMemAllocAsync(&address, 1000, stream) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, 1000);
        REQUIRE(cuMemFreeAsync(address, stream) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_FREE, address, 1000);
    }
    SECTION("cuMemAllocFromPoolAsync, with the thread's own default stream") {
        CUmemoryPool pool = nullptr;
        REQUIRE(cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
        REQUIRE(cuMemAllocFromPoolAsync_ptsz(&address, 1000, pool, nullptr) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, 1000);
        REQUIRE(cuMemFreeAsync_ptsz(address, nullptr) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_FREE, address, 1000);
    }
    SECTION("cuMemMap") {
        constexpr std::size_t page = 2 << 20;
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        CUmemGenericAllocationHandle handle = 0;
        REQUIRE(cuMemCreate(&handle, page, &properties, 0) == CUDA_SUCCESS);
        REQUIRE(cuMemAddressReserve(&address, page, 0, 0, 0) == CUDA_SUCCESS);
        CHECK(seen.entries.empty());
        REQUIRE(cuMemMap(address, page, 0, handle, 0) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_ALLOC, address, page);
        REQUIRE(cuMemUnmap(address, page) == CUDA_SUCCESS);
        check(UCM_EVENT_MEM_TYPE_FREE, address, page);
        CHECK(cuMemAddressFree(address, page) == CUDA_SUCCESS);
        CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
    }
}

TEST_CASE_METHOD(watched_memory,
                 "libucm reports neither memory of the host nor failed allocations") {
    { const pinned_buffer host(1000); }
    CUdeviceptr address = 0;
    CHECK(cuMemAlloc_v2(&address, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(seen.entries.empty());
}

}  // namespace standin
