#include "test/cuda/driver/libraries.hpp"

#include <map>

#include "test/cuda/driver/handle.hpp"
#include "test/cuda/driver/kernels.hpp"
#include "test/cuda/driver/open_memory.hpp"
#include "test/cuda/driver/random.hpp"
#include "test/cuda/driver/stream.hpp"

namespace standin {
namespace {

struct kernel {
    std::vector<std::size_t> parameter_sizes;
    kernel_function run;
};

using kernel_ref = std::shared_ptr<const kernel>;

struct loaded_library {
    std::map<std::string, CUkernel> kernels;
};

struct state {
    std::map<std::string, kernel_ref> registered;
    std::map<CUlibrary, loaded_library> libraries;
    std::map<CUkernel, kernel_ref> kernels;
};

state& table() {
    static state& only = *new state;
    return only;
}

loaded_library& find_library(CUlibrary handle) {
    const auto found = table().libraries.find(handle);
    if (found == table().libraries.end())
        fail(CUDA_ERROR_INVALID_HANDLE, "no library has this handle");
    return found->second;
}

CUkernel add_kernel(loaded_library& library, const std::string& name) {
    const auto found = table().registered.find(name);
    if (found == table().registered.end())
        fail(CUDA_ERROR_NOT_FOUND, "no kernel of this name is registered");
    CUkernel& handle = library.kernels[name];
    if (handle == nullptr) handle = make_handle<CUkernel>();
    table().kernels[handle] = found->second;
    return handle;
}

void run_kernel(const kernel& launched, const launch& settings, const context& running) {
    const open_memory opened(running);
    try {
        launched.run(settings);
    } catch (const kernel_failure& failed) {
        fail(failed.error, "the kernel failed");
    }
}

void check_dimensions(const dimensions& grid, const dimensions& block, unsigned shared_bytes) {
    constexpr unsigned most_threads = 1024;
    constexpr unsigned most_blocks = 65535;
    constexpr unsigned most_shared = 48U << 10U;
    check_argument(grid.count() > 0 && block.count() > 0, "a dimension is 0");
    check_argument(grid.y <= most_blocks && grid.z <= most_blocks, "the grid is too large");
    check_argument(block.x <= most_threads && block.y <= most_threads && block.z <= 64 &&
                       block.count() <= most_threads,
                   "a block has too many threads");
    check_argument(shared_bytes <= most_shared, "a block has too much shared memory");
}

std::vector<std::vector<std::byte>> copy_parameters(const kernel& launched, void** parameters) {
    std::vector<std::vector<std::byte>> copied;
    check_argument(launched.parameter_sizes.empty() || parameters != nullptr,
                   "the kernel has parameters");
    for (const std::size_t size : launched.parameter_sizes) {
        const auto* const bytes = static_cast<const std::byte*>(parameters[copied.size()]);
        check_pointer(bytes);
        copied.emplace_back(bytes, bytes + size);
    }
    return copied;
}

}  // namespace

void for_each_library(const std::function<void(CUlibrary)>& visitor) {
    for (const auto& [handle, each] : table().libraries)
        visitor(handle);
}

void register_kernel(const std::string& name, std::vector<std::size_t> parameter_sizes,
                     kernel_function run) {
    const held_lock lock(state_lock());
    table().registered[name] =
        std::make_shared<kernel>(kernel{std::move(parameter_sizes), std::move(run)});
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
    return call(function::cuLibraryLoadData, [&](held_lock&) {
        check_pointer(library);
        check_pointer(code);
        *library = make_handle<CUlibrary>();
        table().libraries[*library] = {};
    });
}

CUresult cuLibraryUnload(CUlibrary library) {
    return call(function::cuLibraryUnload, [&](held_lock&) {
        for (const auto& [name, handle] : find_library(library).kernels)
            table().kernels.erase(handle);
        table().libraries.erase(library);
    });
}

CUresult cuLibraryGetKernel(CUkernel* handle, CUlibrary library, const char* name) {
    return call(function::cuLibraryGetKernel, [&](held_lock&) {
        check_pointer(handle);
        check_pointer(name);
        *handle = add_kernel(find_library(library), name);
    });
}

CUresult cuLaunchKernel(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream on, void** parameters, void** extra) {
    return call(function::cuLaunchKernel, [&](held_lock&) {
        const context_ref current = current_context();
        // A kernel's handle is passed in place of a function's.
        const auto found = table().kernels.find(reinterpret_cast<CUkernel>(handle));
        if (found == table().kernels.end())
            fail(CUDA_ERROR_INVALID_HANDLE, "no kernel has this handle");
        check_argument(extra == nullptr, "parameters are passed one by one");
        const stream_ref target = find_stream(on);
        if (target->owner != current)
            fail(CUDA_ERROR_INVALID_HANDLE, "the stream is of another context");
        launch settings{{grid_x, grid_y, grid_z},
                        {block_x, block_y, block_z},
                        shared_bytes,
                        {},
                        current->on.ordinal,
                        mix(mix(current_seed()) ^ target->number) + target->queued};
        check_dimensions(settings.grid, settings.block, shared_bytes);
        settings.parameters = copy_parameters(*found->second, parameters);
        operation added;
        added.run = [launched = found->second, settings, running = current] {
            run_kernel(*launched, settings, *running);
        };
        enqueue(target, std::move(added));
    });
}

}  // namespace standin
