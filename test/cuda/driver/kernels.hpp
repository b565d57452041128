// The seam for kernels: host functions that stand in for device code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ucs/cuda/driver_api.hpp"

namespace standin {

struct dimensions {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;

    [[nodiscard]] std::size_t count() const noexcept { return std::size_t{x} * y * z; }
};

// One launch of a kernel. Lives while the kernel runs.
struct launch {
    dimensions grid;
    dimensions block;
    std::size_t shared_bytes = 0;                    // dynamic shared memory of each block
    std::vector<std::vector<std::byte>> parameters;  // copied when the kernel was launched
    int device = 0;
    std::uint64_t seed = 0;  // differs between launches, and follows from STANDIN_SEED

    template<class Value>
    [[nodiscard]] Value parameter(std::size_t index) const {
        Value value;
        std::memcpy(&value, parameters.at(index).data(), sizeof value);
        return value;
    }
};

// A kernel that throws this fails as one does on a GPU: its context keeps the error.
struct [[gnu::visibility("default")]] kernel_failure {
    ucs::cuda::CUresult error = ucs::cuda::CUDA_ERROR_LAUNCH_FAILED;
};

// Runs all blocks of a launch and returns when they have ended. Called on the thread of the stream,
// without a lock. Meanwhile, the memory that the kernel's context may access is accessible at its
// device addresses, for all threads of the process.
using kernel_function = std::function<void(const launch&)>;

// Makes a kernel known to cuLibraryGetKernel, in every library. A later one of the same name
// replaces it. Any thread; static objects of a library or program may call it when they are made.
[[gnu::visibility("default")]] void register_kernel(const std::string& name,
                                                    std::vector<std::size_t> parameter_sizes,
                                                    kernel_function run);

// Registers a kernel when the program or library that contains the object is loaded.
struct registered_kernel {
    registered_kernel(const std::string& name, std::vector<std::size_t> parameter_sizes,
                      kernel_function run) {
        register_kernel(name, std::move(parameter_sizes), std::move(run));
    }
};

}  // namespace standin
