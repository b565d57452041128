#include "test/cuda/driver/kernels.hpp"

#include <atomic>
#include <thread>

#include "test/cuda/driver_tests/faulting.hpp"
#include "test/cuda/driver_tests/support.hpp"

namespace standin {
namespace {

// Adds a number to each element; each thread of the launch has one.
const registered_kernel add_number("add_number",
                                   {sizeof(CUdeviceptr), sizeof(std::size_t), sizeof(int)},
                                   [](const launch& running) {
                                       auto* const numbers = reinterpret_cast<int*>(
                                           running.parameter<CUdeviceptr>(0));
                                       const auto count = running.parameter<std::size_t>(1);
                                       const auto added = running.parameter<int>(2);
                                       const std::size_t threads =
                                           running.grid.count() * running.block.count();
                                       for (std::size_t thread = 0; thread < threads; ++thread)
                                           if (thread < count) numbers[thread] += added;
                                   });

const registered_kernel fail_always("fail_always", {},
                                    [](const launch&) { throw kernel_failure{}; });

// Writes to the processor's memory whether an address is accessible.
const registered_kernel try_address("try_address", {sizeof(CUdeviceptr), sizeof(bool*)},
                                    [](const launch& running) {
                                        *running.parameter<bool*>(1) =
                                            !faults(running.parameter<CUdeviceptr>(0));
                                    });

// Tells that it runs by the number 1, waits for an address in its place, and stores a number there.
const registered_kernel store_late("store_late", {sizeof(std::atomic<CUdeviceptr>*)},
                                   [](const launch& running) {
                                       auto& word =
                                           *running.parameter<std::atomic<CUdeviceptr>*>(0);
                                       word = 1;
                                       while (word == 1)
                                           std::this_thread::yield();
                                       *reinterpret_cast<int*>(word.load()) = 42;
                                   });

class loaded_library {
public:
    loaded_library() {
        REQUIRE(cuLibraryLoadData(&handle_, "code", nullptr, nullptr, 0, nullptr, nullptr, 0) ==
                CUDA_SUCCESS);
    }
    ~loaded_library() { cuLibraryUnload(handle_); }
    loaded_library(const loaded_library&) = delete;
    loaded_library& operator=(const loaded_library&) = delete;

    CUfunction kernel(const char* name) {
        CUkernel found = nullptr;
        REQUIRE(cuLibraryGetKernel(&found, handle_, name) == CUDA_SUCCESS);
        return reinterpret_cast<CUfunction>(found);
    }
    [[nodiscard]] CUlibrary handle() const { return handle_; }

private:
    CUlibrary handle_ = nullptr;
};

CUresult launch_blocks(CUfunction kernel, unsigned blocks, unsigned threads, CUstream stream,
                       void** parameters) {
    return cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
}

bool can_kernel_access(CUfunction kernel, CUdeviceptr address, CUstream stream) {
    bool can = false;
    bool* result = &can;
    void* parameters[] = {&address, &result};
    REQUIRE(launch_blocks(kernel, 1, 1, stream, parameters) == CUDA_SUCCESS);
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    return can;
}

}  // namespace

TEST_CASE("a kernel accesses memory at its device address, in the order of the stream") {
    const current_primary primary;
    loaded_library library;
    const new_stream stream;
    std::size_t count = 1000;
    const device_buffer numbers(count * sizeof(int));
    REQUIRE(cuMemsetD8Async(numbers, 0, count * sizeof(int), stream) == CUDA_SUCCESS);
    CUdeviceptr address = numbers;
    int added = 5;
    void* parameters[] = {&address, &count, &added};
    const CUfunction kernel = library.kernel("add_number");
    REQUIRE(launch_blocks(kernel, 4, 256, stream, parameters) == CUDA_SUCCESS);
    // The call has copied its parameters.
    added = 7;
    REQUIRE(launch_blocks(kernel, 4, 256, stream, parameters) == CUDA_SUCCESS);
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    const std::vector<char> bytes = read(numbers, count * sizeof(int));
    int last = 0;
    std::memcpy(&last, &bytes[(count - 1) * sizeof(int)], sizeof last);
    CHECK(last == 12);
    CHECK(faults(numbers));
}

TEST_CASE("a kernel accesses the memory that its context may access") {
    const current_primary peer(1);
    const device_buffer foreign(100);
    const current_primary primary(0);
    loaded_library library;
    const new_stream stream;
    const device_buffer own(100);
    const CUfunction kernel = library.kernel("try_address");
    CHECK(can_kernel_access(kernel, own, stream));
    CHECK(!can_kernel_access(kernel, foreign, stream));
    REQUIRE(cuCtxEnablePeerAccess(peer.handle(), 0) == CUDA_SUCCESS);
    CHECK(can_kernel_access(kernel, foreign, stream));
}

TEST_CASE("a kernel accesses memory that was allocated after it had begun") {
    const current_primary primary;
    loaded_library library;
    const new_stream stream;
    std::atomic<CUdeviceptr> word{0};
    auto* parameter = &word;
    void* parameters[] = {&parameter};
    REQUIRE(launch_blocks(library.kernel("store_late"), 1, 1, stream, parameters) == CUDA_SUCCESS);
    while (word == 0)
        std::this_thread::yield();
    CUdeviceptr address = 0;
    REQUIRE(cuMemAlloc_v2(&address, 4) == CUDA_SUCCESS);
    word = address;
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(read(address, 1)[0] == 42);
    CHECK(cuMemFree_v2(address) == CUDA_SUCCESS);
}

TEST_CASE("a kernel that fails breaks its context") {
    const current_primary primary;
    loaded_library library;
    const new_stream stream;
    REQUIRE(launch_blocks(library.kernel("fail_always"), 1, 1, stream, nullptr) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_LAUNCH_FAILED);
}

TEST_CASE("a launch is checked before it is queued") {
    const current_primary far(1);
    const new_stream foreign;
    const current_primary primary(0);
    loaded_library library;
    const new_stream stream;
    CUkernel found = nullptr;
    CHECK(cuLibraryGetKernel(&found, library.handle(), "unknown") == CUDA_ERROR_NOT_FOUND);
    const CUfunction kernel = library.kernel("fail_always");
    CHECK(launch_blocks(kernel, 0, 1, stream, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch_blocks(kernel, 1, 1025, stream, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch_blocks(kernel, 1, 1, foreign, nullptr) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(launch_blocks(library.kernel("add_number"), 1, 1, stream, nullptr) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cuLibraryUnload(library.handle()) == CUDA_SUCCESS);
    CHECK(launch_blocks(kernel, 1, 1, stream, nullptr) == CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace standin
