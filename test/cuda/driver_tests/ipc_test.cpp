#include "test/cuda/driver_tests/faulting.hpp"
#include "test/cuda/driver_tests/program.hpp"
#include "test/cuda/driver_tests/support.hpp"

namespace standin {
namespace {

constexpr std::size_t exported_length = 1000;

CUresult open(const CUipcMemHandle& handle, CUdeviceptr& address) {
    return cuIpcOpenMemHandle_v2(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

// A process that exports two small allocations, which share a block, and does what it is told.
class exporter {
public:
    exporter() : process_("exporter of memory") {
        receive_bytes(process_.channel(), handles_, sizeof handles_);
    }
    [[nodiscard]] const CUipcMemHandle& handle(int index) const { return handles_[index]; }

    // Returns the first byte of the first allocation.
    char first_byte() { return tell('r'); }
    void free_first() { tell('f'); }
    void kill() { process_.kill(); }
    int end() {
        send(process_.channel(), 'q');
        return process_.wait().status;
    }

private:
    char tell(char command) {
        send(process_.channel(), command);
        return receive<char>(process_.channel());
    }

    program process_;
    CUipcMemHandle handles_[2];
};

}  // namespace

TEST_CASE("exporter of memory", "[.program]") {
    const current_primary primary;
    CUdeviceptr first = 0;
    REQUIRE(cuMemAlloc_v2(&first, exported_length) == CUDA_SUCCESS);
    const device_buffer second(exported_length);
    REQUIRE(cuMemsetD8_v2(first, 1, exported_length) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD8_v2(second, 2, exported_length) == CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    CUipcMemHandle handles[2];
    REQUIRE(cuIpcGetMemHandle(&handles[0], first) == CUDA_SUCCESS);
    REQUIRE(cuIpcGetMemHandle(&handles[1], second) == CUDA_SUCCESS);
    send_bytes(own_channel(), handles, sizeof handles);
    bool is_freed = false;
    for (;;) {
        const char command = receive<char>(own_channel());
        if (command == 'q') break;
        if (command == 'f') is_freed = cuMemFree_v2(first) == CUDA_SUCCESS;
        send(own_channel(), command == 'r' ? read(first, 1)[0] : command);
    }
    if (!is_freed) CHECK(cuMemFree_v2(first) == CUDA_SUCCESS);
}

TEST_CASE("processes share memory of a device by handles") {
    exporter other;
    const current_primary primary(1);
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    REQUIRE(open(other.handle(0), first) == CUDA_SUCCESS);
    REQUIRE(open(other.handle(1), second) == CUDA_SUCCESS);
    CHECK(read(first, exported_length) == std::vector<char>(exported_length, 1));
    CHECK(read(second, exported_length) == std::vector<char>(exported_length, 2));
    CHECK(faults(first));
    CHECK(buffer_id(first) != buffer_id(second));
    CHECK(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, first) == primary.handle());
    CHECK(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, first) == exported_length);
    CHECK(!attribute<bool>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, first));
    REQUIRE(cuMemsetD8_v2(first, 7, exported_length) == CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(other.first_byte() == 7);
    CHECK(cuMemFree_v2(first) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuIpcCloseMemHandle(first) == CUDA_SUCCESS);
    CHECK(cuIpcCloseMemHandle(second) == CUDA_SUCCESS);
    CHECK(other.end() == 0);
}

TEST_CASE("a handle that is opened twice is closed twice") {
    exporter other;
    const current_primary primary;
    CUdeviceptr first = 0;
    CUdeviceptr again = 0;
    REQUIRE(open(other.handle(0), first) == CUDA_SUCCESS);
    REQUIRE(open(other.handle(0), again) == CUDA_SUCCESS);
    CHECK(first == again);
    CHECK(cuIpcCloseMemHandle(first) == CUDA_SUCCESS);
    CHECK(read(first, 1)[0] == 1);
    CHECK(standin_live("imported memory") == 1);
    CHECK(cuIpcCloseMemHandle(first) == CUDA_SUCCESS);
    CHECK(cuIpcCloseMemHandle(first) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory that its owner has freed cannot be opened or used") {
    exporter other;
    const current_primary primary;
    CUdeviceptr first = 0;
    CUdeviceptr address = 0;
    REQUIRE(open(other.handle(0), first) == CUDA_SUCCESS);
    other.free_first();
    CHECK(open(other.handle(0), address) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(open(other.handle(1), address) == CUDA_SUCCESS);
    CHECK(cuIpcCloseMemHandle(address) == CUDA_SUCCESS);
    char byte = 0;
    CHECK(cuMemcpyDtoH_v2(&byte, first, 1) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("handles end with their process") {
    exporter other;
    const current_primary primary;
    other.kill();
    CUdeviceptr address = 0;
    CHECK(open(other.handle(0), address) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("one context of a device opens the handles of a process") {
    exporter other;
    const current_primary primary;
    CUdeviceptr address = 0;
    REQUIRE(open(other.handle(0), address) == CUDA_SUCCESS);
    CUcontext second = nullptr;
    REQUIRE(cuCtxCreate_v2(&second, 0, 0) == CUDA_SUCCESS);
    CUdeviceptr refused = 0;
    CHECK(open(other.handle(1), refused) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuIpcCloseMemHandle(address) == CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(cuCtxDestroy_v2(second) == CUDA_SUCCESS);
    CHECK(cuIpcCloseMemHandle(address) == CUDA_SUCCESS);
}

TEST_CASE("devices without peer access cannot share memory") {
    exporter other;
    const current_primary primary(2);
    CUdeviceptr address = 0;
    CHECK(open(other.handle(0), address) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

TEST_CASE("a process does not open its own handles, and exports whole allocations") {
    const current_primary primary;
    const device_buffer buffer(5000);
    CUipcMemHandle handle;
    CHECK(cuIpcGetMemHandle(&handle, buffer + 1) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuIpcGetMemHandle(&handle, buffer) == CUDA_SUCCESS);
    CUdeviceptr address = 0;
    CHECK(open(handle, address) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuIpcOpenMemHandle_v2(&address, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    handle.reserved[40] ^= 1;
    CHECK(open(handle, address) == CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr pooled = 0;
    REQUIRE(cuMemAllocAsync(&pooled, 100, nullptr) == CUDA_SUCCESS);
    CHECK(cuIpcGetMemHandle(&handle, pooled) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFreeAsync(pooled, nullptr) == CUDA_SUCCESS);
}

}  // namespace standin
