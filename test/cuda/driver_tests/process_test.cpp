#include <atomic>
#include <thread>

#include "test/cuda/driver_tests/program.hpp"
#include "test/cuda/driver_tests/support.hpp"
#include "test/support/child.hpp"

namespace standin {

TEST_CASE("program that releases nothing", "[.program]") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    CUcontext context = nullptr;
    REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
    REQUIRE(cuCtxPushCurrent_v2(context) == CUDA_SUCCESS);
    CUdeviceptr address = 0;
    REQUIRE(cuMemAlloc_v2(&address, 1234) == CUDA_SUCCESS);
    void* host = nullptr;
    REQUIRE(cuMemHostAlloc(&host, 77, 0) == CUDA_SUCCESS);
    CUstream stream = nullptr;
    REQUIRE(cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
}

TEST_CASE("program that releases all", "[.program]") {
    const current_primary primary;
    const device_buffer buffer(1234);
    const new_stream stream;
    CHECK(cuMemsetD8Async(buffer, 1, 1234, stream) == CUDA_SUCCESS);
}

TEST_CASE("objects that are left at the end of a process are reported") {
    const ended_program reported = run("program that releases nothing");
    CHECK(reported.status == 0);
    CHECK(reported.output.find("standin: not released: device memory 1234 bytes at 0x") !=
          std::string::npos);
    CHECK(reported.output.find("not released: pinned memory 77 bytes") != std::string::npos);
    CHECK(reported.output.find("not released: stream 0x") != std::string::npos);
    CHECK(reported.output.find("not released: context primary of device 0, retained 1 times") !=
          std::string::npos);
    CHECK(run("program that releases nothing", {"STANDIN_LEAKS=fatal"}).status == 97);
    const ended_program clean = run("program that releases all", {"STANDIN_LEAKS=fatal"});
    CHECK(clean.status == 0);
    CHECK(clean.output.find("not released") == std::string::npos);
}

TEST_CASE("program that ends while a stream waits", "[.program]") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    CUcontext context = nullptr;
    REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
    REQUIRE(cuCtxPushCurrent_v2(context) == CUDA_SUCCESS);
    CUdeviceptr word = 0;
    REQUIRE(cuMemAlloc_v2(&word, 8) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD8_v2(word, 0, 8) == CUDA_SUCCESS);
    REQUIRE(cuStreamWaitValue64_v2(nullptr, word, 1, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
    REQUIRE(cuMemsetD8Async(word, 3, 8, nullptr) == CUDA_SUCCESS);
}

TEST_CASE("a process ends while its streams have work") {
    CHECK(run("program that ends while a stream waits").status == 0);
}

TEST_CASE("a context is destroyed while a stream waits") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    CUcontext made = nullptr;
    REQUIRE(cuCtxCreate_v2(&made, 0, 0) == CUDA_SUCCESS);
    void* flag = nullptr;
    REQUIRE(cuMemHostAlloc(&flag, 8, 0) == CUDA_SUCCESS);
    std::memset(flag, 0, 8);
    REQUIRE(cuStreamWaitValue64_v2(nullptr, address_of(flag), 1, CU_STREAM_WAIT_VALUE_GEQ) ==
            CUDA_SUCCESS);
    CHECK(cuCtxDestroy_v2(made) == CUDA_SUCCESS);
    CHECK(standin_live(nullptr) == 0);
}

TEST_CASE("program without devices", "[.program]") {
    CHECK(cuInit(0) == CUDA_ERROR_NO_DEVICE);
    int count = 0;
    CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
    int version = 0;
    CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS);
    const char* name = nullptr;
    CHECK(cuGetErrorName(CUDA_ERROR_NO_DEVICE, &name) == CUDA_SUCCESS);
    CHECK(std::string(name) == "CUDA_ERROR_NO_DEVICE");
}

TEST_CASE("a machine may have no device") {
    CHECK(run("program without devices", {"STANDIN_DEVICES=0"}).status == 0);
    CHECK(run("program without devices", {"CUDA_VISIBLE_DEVICES="}).status == 0);
}

TEST_CASE("program with an old driver", "[.program]") {
    const current_primary primary;
    int version = 0;
    CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS);
    CHECK(version == 11040);
    unsigned long long id = 0;
    CHECK(cuCtxGetId(primary.handle(), &id) == CUDA_ERROR_NOT_SUPPORTED);
    CUdeviceptr address = 0;
    CHECK(cuMemAllocAsync(&address, 16, nullptr) == CUDA_SUCCESS);
    CHECK(cuMemFreeAsync(address, nullptr) == CUDA_SUCCESS);
}

TEST_CASE("an old driver lacks newer functions") {
    CHECK(run("program with an old driver", {"STANDIN_VERSION=11040"}).status == 0);
}

TEST_CASE("program that exports dma-bufs", "[.program]") {
    const current_primary primary;
    int is_supported = 0;
    CHECK(cuDeviceGetAttribute(&is_supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0) ==
          CUDA_SUCCESS);
    CHECK(is_supported == 1);
    const device_buffer buffer(3 << 20);
    REQUIRE(cuMemsetD8_v2(buffer + 4096, 6, 4096) == CUDA_SUCCESS);
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    int file = -1;
    REQUIRE(cuMemGetHandleForAddressRange(&file, buffer + 4096, 4096,
                                          CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0) == CUDA_SUCCESS);
    const ucs::unique_fd owned(file);
    char bytes[4096] = {};
    CHECK(::read(file, bytes, sizeof bytes) == ssize_t{sizeof bytes});
    CHECK(bytes[0] == 6);
    CHECK(bytes[4095] == 6);
    CHECK(cuMemGetHandleForAddressRange(&file, buffer + 1, 4096,
                                        CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                        0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory is exported as dma-buf where the environment asks for it") {
    CHECK(run("program that exports dma-bufs", {"STANDIN_DMA_BUF=1"}).status == 0);
    const current_primary primary;
    const device_buffer buffer(4096);
    int file = -1;
    CHECK(cuMemGetHandleForAddressRange(&file, buffer, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                        0) == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("program with a library of kernels", "[.program]") {
    const current_primary primary;
    CUlibrary library = nullptr;
    REQUIRE(cuLibraryLoadData(&library, "code", nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            CUDA_SUCCESS);
    CUkernel kernel = nullptr;
    CHECK(cuLibraryGetKernel(&kernel, library, "kernel_of_library") == CUDA_SUCCESS);
    CHECK(cuLibraryUnload(library) == CUDA_SUCCESS);
}

TEST_CASE("cuInit loads a library of kernels") {
    const char* const variable = "STANDIN_KERNELS=" STANDIN_TEST_KERNELS;
    CHECK(run("program with a library of kernels", {variable}).status == 0);
    CHECK(run("program with a library of kernels").status != 0);
}

TEST_CASE("program that sees two devices", "[.program]") {
    REQUIRE(cuInit(0) == CUDA_SUCCESS);
    int count = 0;
    CHECK(cuDeviceGetCount(&count) == CUDA_SUCCESS);
    CHECK(count == 2);
    char place[32];
    CHECK(cuDeviceGetPCIBusId(place, sizeof place, 0) == CUDA_SUCCESS);
    CHECK(std::string(place) == "0001:41:00.0");
    int can = 1;
    CHECK(cuDeviceCanAccessPeer(&can, 0, 1) == CUDA_SUCCESS);
    CHECK(can == 0);
}

TEST_CASE("a process sees some devices, in its own order") {
    CHECK(run("program that sees two devices",
              {"CUDA_VISIBLE_DEVICES=2,0", "STANDIN_PCI=0000:01:00,0000:02:00,0001:41:00"})
              .status == 0);
}

TEST_CASE("program with faults", "[.program]") {
    CHECK(cuInit(0) == CUDA_ERROR_SYSTEM_NOT_READY);
    const current_primary primary;
    CUdeviceptr address = 0;
    CHECK(cuMemAlloc_v2(&address, 16) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuMemAlloc_v2(&address, 16) == CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_CASE("the environment asks for faults, and a trace explains them") {
    const ended_program ended = run(
        "program with faults", {"STANDIN_FAIL=cuInit:1:802,cuMemAlloc_v2:0:2", "STANDIN_TRACE=1"});
    CHECK(ended.status == 0);
    CHECK(ended.output.find("standin: cuInit returns 802: a test asked for this failure") !=
          std::string::npos);
}

TEST_CASE("a child that was forked after cuInit cannot use the driver") {
    const current_primary primary;
    const device_buffer buffer(16);
    const int status = test::run_in_child([&] {
        int count = 0;
        CUcontext current = nullptr;
        const bool is_refused = cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                                cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                                cuCtxGetCurrent(&current) == CUDA_ERROR_NOT_INITIALIZED;
        return is_refused ? 0 : 1;
    });
    CHECK(status == 0);
    CHECK(read(buffer, 16).size() == 16);
}

TEST_CASE("cuGetProcAddress finds the newest form of a function") {
    void* found = nullptr;
    int status = -1;
    CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 13000, 0, &status) == CUDA_SUCCESS);
    CHECK(found == reinterpret_cast<void*>(&cuMemAlloc_v2));
    CHECK(status == 0);
    CHECK(cuGetProcAddress_v2("cuMemAllocAsync", &found, 13000, 2, &status) == CUDA_SUCCESS);
    CHECK(found == reinterpret_cast<void*>(&cuMemAllocAsync_ptsz));
    CHECK(cuGetProcAddress_v2("cuCtxGetId", &found, 11040, 0, &status) == CUDA_ERROR_NOT_FOUND);
    CHECK(status == 2);
    CHECK(cuGetProcAddress_v2("cuNothing", &found, 13000, 0, &status) == CUDA_ERROR_NOT_FOUND);
    CHECK(status == 1);
}

TEST_CASE("threads use the driver at the same time") {
    const current_primary primary;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int number = 0; number < 4; ++number)
        threads.emplace_back([&, number] {
            cuCtxPushCurrent_v2(primary.handle());
            CUstream stream = nullptr;
            cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
            for (int round = 0; round < 20; ++round) {
                CUdeviceptr address = 0;
                cuMemAlloc_v2(&address, 300);
                cuMemsetD8Async(address, static_cast<unsigned char>(number), 300, stream);
                char bytes[300] = {};
                cuMemcpyAsync(address_of(bytes), address, 300, stream);
                if (bytes[299] != number) ++wrong;
                cuMemFree_v2(address);
            }
            cuStreamDestroy_v2(stream);
        });
    for (std::thread& each : threads)
        each.join();
    CHECK(wrong == 0);
    CHECK(standin_live("device memory") == 0);
    CHECK(standin_live("stream") == 0);
}

}  // namespace standin
