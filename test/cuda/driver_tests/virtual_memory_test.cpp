#include <unistd.h>

#include "test/cuda/driver_tests/faulting.hpp"
#include "test/cuda/driver_tests/program.hpp"
#include "test/cuda/driver_tests/support.hpp"

namespace standin {
namespace {

constexpr std::size_t page = 2 << 20;

CUmemAllocationProp properties_of(CUmemAllocationHandleType types) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = types;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return properties;
}

CUresult give_access(CUdeviceptr address, std::size_t length, int device) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemSetAccess(address, length, &access, 1);
}

CUmemGenericAllocationHandle create(
    std::size_t length,
    CUmemAllocationHandleType types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    const CUmemAllocationProp properties = properties_of(types);
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE(cuMemCreate(&handle, length, &properties, 0) == CUDA_SUCCESS);
    return handle;
}

// A handle that is mapped and accessible until the end of the scope.
class mapped_handle {
public:
    mapped_handle(CUmemGenericAllocationHandle handle, std::size_t length)
        : handle_(handle), length_(length) {
        REQUIRE(cuMemAddressReserve(&address_, length, 0, 0, 0) == CUDA_SUCCESS);
        REQUIRE(cuMemMap(address_, length, 0, handle, 0) == CUDA_SUCCESS);
        REQUIRE(give_access(address_, length, 0) == CUDA_SUCCESS);
    }
    ~mapped_handle() {
        cuMemUnmap(address_, length_);
        cuMemAddressFree(address_, length_);
        cuMemRelease(handle_);
    }
    mapped_handle(const mapped_handle&) = delete;
    mapped_handle& operator=(const mapped_handle&) = delete;

    [[nodiscard]] CUdeviceptr address() const { return address_; }

private:
    CUmemGenericAllocationHandle handle_;
    std::size_t length_;
    CUdeviceptr address_ = 0;
};

}  // namespace

TEST_CASE("mapped memory is accessible where cuMemSetAccess allows it") {
    const current_primary primary;
    CUdeviceptr address = 0;
    REQUIRE(cuMemAddressReserve(&address, 3 * page, 0, 0, 0) == CUDA_SUCCESS);
    const CUmemGenericAllocationHandle handle = create(page);
    CHECK(cuMemMap(address + 4096, page, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemMap(address + 2 * page, 2 * page, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuMemMap(address + page, page, 0, handle, 0) == CUDA_SUCCESS);
    CHECK(cuMemMap(address + page, page, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemsetD8_v2(address + page, 1, page) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(give_access(address + page, page, 0) == CUDA_SUCCESS);
    CHECK(give_access(address + page, page, 2) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(cuMemsetD8_v2(address + page, 1, page) == CUDA_SUCCESS);
    CHECK(read(address + page, 10) == std::vector<char>(10, 1));
    CHECK(faults(address + page));
    CHECK(cuMemAddressFree(address, 3 * page) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemUnmap(address + page, page / 2) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemUnmap(address + page, page) == CUDA_SUCCESS);
    CHECK(cuMemAddressFree(address, 3 * page) == CUDA_SUCCESS);
    CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
    CHECK(cuMemRelease(handle) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("mapped memory belongs to no context") {
    const current_primary primary;
    const mapped_handle mapped(create(2 * page), 2 * page);
    const CUdeviceptr inside = mapped.address() + page;
    CHECK(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, inside) == nullptr);
    CHECK(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside) == 0);
    CHECK(!attribute<bool>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, inside));
    CHECK(attribute<std::uint64_t>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, inside) ==
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemGenericAllocationHandle retained = 0;
    CHECK(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(inside)) == CUDA_SUCCESS);
    CHECK(cuMemRelease(retained) == CUDA_SUCCESS);
}

TEST_CASE("a range of several mappings is one for copies, but not for cuMemGetAddressRange") {
    const current_primary primary;
    CUdeviceptr address = 0;
    REQUIRE(cuMemAddressReserve(&address, 2 * page, 0, 0, 0) == CUDA_SUCCESS);
    for (const CUdeviceptr each : {address, address + page}) {
        const CUmemGenericAllocationHandle handle = create(page);
        REQUIRE(cuMemMap(each, page, 0, handle, 0) == CUDA_SUCCESS);
        REQUIRE(cuMemRelease(handle) == CUDA_SUCCESS);
    }
    REQUIRE(give_access(address, 2 * page, 0) == CUDA_SUCCESS);
    std::vector<char> sent(2 * page);
    for (std::size_t index = 0; index < sent.size(); ++index)
        sent[index] = static_cast<char>(index >> 12U);
    CHECK(cuMemcpyHtoD_v2(address, sent.data(), sent.size()) == CUDA_SUCCESS);
    CHECK(read(address, sent.size()) == sent);
    CUdeviceptr base = 0;
    std::size_t length = 0;
    CHECK(cuMemGetAddressRange_v2(&base, &length, address + page + 5) == CUDA_SUCCESS);
    CHECK(base == address + page);
    CHECK(length == page);
    CHECK(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) == 2 * page);
    CHECK(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, address) == page);
    CHECK(cuMemUnmap(address, 2 * page) == CUDA_SUCCESS);
    CHECK(!attribute<bool>(CU_POINTER_ATTRIBUTE_MAPPED, address));
    CHECK(cuMemAddressFree(address, 2 * page) == CUDA_SUCCESS);
}

TEST_CASE("importer of a file", "[.program]") {
    const current_primary primary;
    const ucs::unique_fd file = receive_file(own_channel());
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE(
        cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(std::intptr_t{file.get()}),
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS);
    const mapped_handle mapped(handle, page);
    CHECK(read(mapped.address(), 1)[0] == 3);
    REQUIRE(cuMemsetD8_v2(mapped.address(), 4, page) == CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("processes share memory of an allocation handle by a file descriptor") {
    const current_primary primary;
    program importer("importer of a file");
    const mapped_handle mapped(create(page), page);
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE(cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(mapped.address())) ==
            CUDA_SUCCESS);
    REQUIRE(cuMemsetD8_v2(mapped.address(), 3, page) == CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    int file = -1;
    REQUIRE(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                         0) == CUDA_SUCCESS);
    CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
    send_file(importer.channel(), file);
    ::close(file);
    const ended_program ended = importer.wait();
    INFO(ended.output);
    CHECK(ended.status == 0);
    CHECK(read(mapped.address(), 1)[0] == 4);
}

TEST_CASE("memory is exported as it was asked for") {
    const current_primary primary;
    const CUmemGenericAllocationHandle handle = create(page, CU_MEM_HANDLE_TYPE_NONE);
    int file = -1;
    CHECK(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                       0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
    const CUmemAllocationProp fabric = properties_of(CU_MEM_HANDLE_TYPE_FABRIC);
    CUmemGenericAllocationHandle refused = 0;
    CHECK(cuMemCreate(&refused, page, &fabric, 0) == CUDA_ERROR_NOT_SUPPORTED);
    const CUmemAllocationProp plain = properties_of(CU_MEM_HANDLE_TYPE_NONE);
    CHECK(cuMemCreate(&refused, page + 4096, &plain, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemImportFromShareableHandle(&refused, nullptr,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) ==
          CUDA_ERROR_INVALID_VALUE);
}

}  // namespace standin
