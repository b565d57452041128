#include "ucs/memory/device_memory.hpp"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "test/support/cuda_memory.hpp"
#include "test/support/log_capture.hpp"
#include "ucs/memory/copy_any.hpp"

using namespace ucs::memory;
using cuda_test::kind;

namespace {

constexpr bool is_on_device(kind which) {
    return which != kind::host && which != kind::pinned;
}

void* pointer(ucs::cuda::CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
}

}  // namespace

TEST_CASE("memory of every kind is told apart", "[ucs][memory][cuda]") {
    const device_memory_user user;
    const cuda_test::current_device device;
    for (const kind which : cuda_test::all_kinds) {
        INFO(cuda_test::name_of(which));
        const cuda_test::memory memory(which, 100'000);
        for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, memory.size() - 1}) {
            std::byte* const inside = memory.data() + offset;
            CHECK(is_host(inside) == !is_on_device(which));
            const auto found = find_device_memory(inside);
            REQUIRE(found.has_value() == is_on_device(which));
            if (!found) continue;
            CHECK(found->contains(memory.data(), memory.size()));
            CHECK(found->device == 0);
            CHECK(found->buffer_id != 0);
            CHECK(found->has_legacy_handle == (which == kind::device));
            CHECK((found->type == UCS_MEMORY_TYPE_CUDA_MANAGED) == (which == kind::managed));
            CHECK(type_of(inside) == found->type);
        }
    }
}

TEST_CASE("an address that changes its kind is never mistaken", "[ucs][memory][cuda]") {
    const device_memory_user user;
    const cuda_test::current_device device;
    // The stand-in uses freed addresses again at once.
    ucs::cuda::CUdeviceptr address = 0;
    std::uint64_t last_id = 0;
    for (unsigned i = 0; i < 20; ++i) {
        const std::size_t length = (1U + i % 3) * (std::size_t{2} << 20U);
        if (i % 2 == 0) {
            cuda_test::cuMemAlloc_v2(&address, length);
        } else {
            cuda_test::cuMemAllocManaged(&address, length, ucs::cuda::CU_MEM_ATTACH_GLOBAL);
        }
        const auto found = find_device_memory(pointer(address));
        REQUIRE(found);
        CHECK(found->length == length);
        CHECK(found->buffer_id != last_id);
        CHECK((found->type == UCS_MEMORY_TYPE_CUDA) == (i % 2 == 0));
        last_id = found->buffer_id;
        cuda_test::cuMemFree_v2(address);
        CHECK_FALSE(find_device_memory(pointer(address)));
        CHECK_FALSE(is_host(pointer(address)));
    }
}

TEST_CASE("a new mapping of reserved addresses is noticed", "[ucs][memory][cuda]") {
    const device_memory_user user;
    const cuda_test::current_device device;
    ucs::cuda::CUmemAllocationProp properties{};
    properties.type = ucs::cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {ucs::cuda::CU_MEM_LOCATION_TYPE_DEVICE, device.device()};
    std::size_t unit = 0;
    cuda_test::cuMemGetAllocationGranularity(&unit, &properties,
                                             ucs::cuda::CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    ucs::cuda::CUdeviceptr address = 0;
    cuda_test::cuMemAddressReserve(&address, 2 * unit, std::size_t{0}, ucs::cuda::CUdeviceptr{0},
                                   0ULL);
    for (unsigned i = 0; i < 4; ++i) {
        ucs::cuda::CUmemGenericAllocationHandle handle = 0;
        const std::size_t length = (1U + i % 2) * unit;
        cuda_test::cuMemCreate(&handle, length, &properties, 0ULL);
        cuda_test::cuMemMap(address, length, std::size_t{0}, handle, 0ULL);
        const ucs::cuda::CUmemAccessDesc access{properties.location,
                                                ucs::cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        cuda_test::cuMemSetAccess(address, length, &access, std::size_t{1});
        const auto found = find_device_memory(pointer(address));
        REQUIRE(found);
        CHECK(found->contains(pointer(address), length));
        CHECK_FALSE(is_host(pointer(address)));
        cuda_test::cuMemUnmap(address, length);
        cuda_test::cuMemRelease(handle);
        CHECK_FALSE(find_device_memory(pointer(address)));
    }
    cuda_test::cuMemAddressFree(address, 2 * unit);
}

TEST_CASE("registered host memory stays memory of the host", "[ucs][memory][cuda]") {
    const device_memory_user user;
    const cuda_test::current_device device;
    constexpr std::size_t length = 1 << 16;
    void* const memory =
        ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(is_host(memory));
    cuda_test::cuMemHostRegister_v2(memory, length, ucs::cuda::CU_MEMHOSTREGISTER_PORTABLE);
    CHECK(is_host(memory));
    CHECK_FALSE(find_device_memory(memory));
    cuda_test::cuMemHostUnregister(memory);
    CHECK(is_host(memory));
    ::munmap(memory, length);
    // No memory at all.
    CHECK_FALSE(is_host(memory));
}

TEST_CASE("an unmapped page is not remembered as memory of the host", "[ucs][memory][cuda]") {
    const device_memory_user user;
    const cuda_test::current_device device;
    constexpr std::size_t length = 1 << 16;
    for (unsigned i = 0; i < 3; ++i) {
        void* const memory =
            ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(is_host(memory));
        CHECK(is_host(memory));
        ::munmap(memory, length);
        CHECK_FALSE(is_host(memory));
    }
}

TEST_CASE("a thread that has never called CUDA finds and copies memory", "[ucs][memory][cuda]") {
    const device_memory_user user;
    const cuda_test::current_device device;
    const std::vector<std::byte> bytes(5000, std::byte{7});
    const cuda_test::memory memory(kind::device, bytes);
    std::vector<std::byte> got(bytes.size());
    ucs_status_t status = UCS_ERR_IO_ERROR;
    bool is_found = false;
    std::thread([&] {
        is_found = find_device_memory(memory.data()).has_value();
        status = copy_any(got.data(), memory.data(), got.size());
    }).join();
    CHECK(is_found);
    CHECK(status == UCS_OK);
    CHECK(got == bytes);
}

TEST_CASE("copies move between all kinds of memory", "[ucs][memory][cuda]") {
    const device_memory_user user;
    const cuda_test::current_device device;
    const std::vector<std::byte> bytes(70'001, std::byte{9});
    for (const kind from : cuda_test::all_kinds) {
        for (const kind to : cuda_test::all_kinds) {
            INFO("from " << cuda_test::name_of(from) << " to " << cuda_test::name_of(to));
            const cuda_test::memory source(from, bytes);
            const cuda_test::memory target(to, bytes.size());
            CHECK(copy_any(target.data(), source.data(), bytes.size()) == UCS_OK);
            CHECK(target.read() == bytes);
        }
    }
}
