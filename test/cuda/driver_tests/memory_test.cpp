#include "test/cuda/driver_tests/faulting.hpp"
#include "test/cuda/driver_tests/support.hpp"

namespace standin {
TEST_CASE("the processor cannot access memory of a device") {
    const current_primary primary;
    const device_buffer small(100);
    const device_buffer large(5 << 20);
    CHECK(faults(small));
    CHECK(faults(large));
}

TEST_CASE("small allocations share a block, and their addresses are used again") {
    const current_primary primary;
    const device_buffer first(100);
    CUdeviceptr second = 0;
    REQUIRE(cuMemAlloc_v2(&second, 200) == CUDA_SUCCESS);
    CHECK(second - first == 512);
    const std::uint64_t old_id = buffer_id(second);
    REQUIRE(cuMemFree_v2(second) == CUDA_SUCCESS);
    std::uint64_t id = 0;
    CHECK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, second) ==
          CUDA_ERROR_INVALID_VALUE);
    const device_buffer third(300);
    CHECK(third == second);
    CHECK(buffer_id(third) != old_id);
    CUdeviceptr base = 0;
    std::size_t length = 0;
    CHECK(cuMemGetAddressRange_v2(&base, &length, third + 299) == CUDA_SUCCESS);
    CHECK(base == third);
    CHECK(length == 300);
    CHECK(cuMemGetAddressRange_v2(&base, &length, third + 300) == CUDA_ERROR_NOT_FOUND);
}

TEST_CASE("memory of a device is described by its attributes") {
    const current_primary primary(1);
    const device_buffer buffer(3 << 20);
    const CUdeviceptr inside = buffer + 1000;
    CHECK(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, inside) == primary.handle());
    CHECK(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside) == CU_MEMORYTYPE_DEVICE);
    CHECK(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside) == 1);
    CHECK(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside) == buffer);
    CHECK(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside) == 3 << 20);
    CHECK(attribute<bool>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, inside));
    CHECK(attribute<bool>(CU_POINTER_ATTRIBUTE_MAPPED, inside));
    CHECK(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, inside) == 0);
    void* host = nullptr;
    CHECK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside) ==
          CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("several attributes of an unknown address are zero") {
    const current_primary primary;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_BUFFER_ID};
    unsigned type = 7;
    std::uint64_t id = 7;
    void* values[] = {&type, &id};
    char host = 0;
    CHECK(cuPointerGetAttributes(2, asked, values, address_of(&host)) == CUDA_SUCCESS);
    CHECK(type == 0);
    CHECK(id == 0);
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(&host)) ==
          CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("the processor can access managed memory") {
    const current_primary primary;
    CUdeviceptr managed = 0;
    REQUIRE(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    auto* const bytes = reinterpret_cast<char*>(managed);
    std::memset(bytes, 3, 1000);
    CHECK(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, managed) == 1);
    CHECK(attribute<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, managed) == bytes);
    CHECK(read(managed, 1000) == std::vector<char>(1000, 3));
    CHECK(cuMemFree_v2(managed) == CUDA_SUCCESS);
}

TEST_CASE("registered memory is known until it is unregistered") {
    const current_primary primary;
    std::vector<char> memory(10000);
    CHECK(cuMemHostRegister_v2(memory.data(), memory.size(), 0) == CUDA_SUCCESS);
    CHECK(cuMemHostRegister_v2(memory.data() + 100, 10, 0) ==
          CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    const CUdeviceptr inside = address_of(memory.data() + 500);
    CHECK(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside) == CU_MEMORYTYPE_HOST);
    CHECK(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside) ==
          address_of(memory.data()));
    CHECK(cuMemHostRegister_v2(reinterpret_cast<void*>(4096), 4096, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemHostUnregister(memory.data() + 500) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CHECK(cuMemHostUnregister(memory.data()) == CUDA_SUCCESS);
    CHECK(cuMemHostUnregister(memory.data()) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_CASE("a device has as much memory as it says") {
    const current_primary primary;
    std::size_t free_before = 0;
    std::size_t free_after = 0;
    std::size_t total = 0;
    CHECK(cuMemGetInfo_v2(&free_before, &total) == CUDA_SUCCESS);
    const device_buffer buffer(10 << 20);
    CHECK(cuMemGetInfo_v2(&free_after, &total) == CUDA_SUCCESS);
    CHECK(free_before - free_after == 10 << 20);
    CUdeviceptr address = 0;
    CHECK(cuMemAlloc_v2(&address, total) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuMemAlloc_v2(&address, 0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory is freed at its beginning, once") {
    const current_primary primary;
    CUdeviceptr address = 0;
    REQUIRE(cuMemAlloc_v2(&address, 4096) == CUDA_SUCCESS);
    CHECK(cuMemFree_v2(address + 512) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFree_v2(address) == CUDA_SUCCESS);
    CHECK(cuMemFree_v2(address) == CUDA_ERROR_INVALID_VALUE);
}

}  // namespace standin
