#include "ucs/cuda/driver.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <new>

#include "ucs/type/allocated.hpp"

namespace ucs::cuda {
namespace {

struct symbol {
    const char* name;
    void (*store)(driver_functions& into, void* found);
};

#define UCS_CUDA_SYMBOL(name, parameters)                                       \
    {#name, [](driver_functions& into, void* found) {                           \
         into.name = reinterpret_cast<decltype(driver_functions::name)>(found); \
     }},
const symbol required[] = {UCS_CUDA_FUNCTIONS(UCS_CUDA_SYMBOL)};
const symbol newer[] = {UCS_CUDA_NEWER_FUNCTIONS(UCS_CUDA_SYMBOL)};
#undef UCS_CUDA_SYMBOL

// Older drivers lack functions of `required`.
constexpr const char* oldest = "CUDA 11.4";

// Never destroyed: threads may free device memory while the process ends.
struct state {
    std::mutex lock;
    driver_functions functions;
    std::atomic<const driver_functions*> loaded{nullptr};
    bool was_tried = false;
    bool is_started = false;
    std::string problem;
};

state& driver_state() {
    static state& only = *new state;
    return only;
}

// Returns the reason why the driver cannot be used, or an empty text.
std::string load(driver_functions& into) {
    constexpr const char* file = "libcuda.so.1";
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
        const char* text = ::dlerror();
        return text == nullptr ? "libcuda.so.1 cannot be loaded" : text;
    }
    for (const symbol& each : required) {
        void* const found = ::dlsym(library, each.name);
        if (found == nullptr) {
            return std::string(file) + " has no " + each.name + ": the driver is older than " +
                   oldest;
        }
        each.store(into, found);
    }
    for (const symbol& each : newer)
        each.store(into, ::dlsym(library, each.name));
    return {};
}

const driver_functions* load_locked(state& into) {
    if (!into.was_tried) {
        into.problem = load(into.functions);
        into.was_tried = true;
        if (into.problem.empty()) into.loaded.store(&into.functions, std::memory_order_release);
    }
    return into.loaded.load(std::memory_order_relaxed);
}

}  // namespace

const driver_functions* load_driver() noexcept {
    const driver_functions* found = nullptr;
    static_cast<void>(allocated([&] {
        state& driver = driver_state();
        const std::lock_guard guard(driver.lock);
        found = load_locked(driver);
    }));
    return found;
}

const driver_functions* loaded_driver() noexcept {
    return driver_state().loaded.load(std::memory_order_acquire);
}

const driver_functions* start_driver() noexcept {
    const driver_functions* found = nullptr;
    static_cast<void>(allocated([&] {
        state& driver = driver_state();
        const std::lock_guard guard(driver.lock);
        const driver_functions* const functions = load_locked(driver);
        if (functions == nullptr) return;
        if (!driver.is_started) {
            const CUresult outcome = functions->cuInit(0);
            driver.is_started = outcome == CUDA_SUCCESS;
            driver.problem =
                driver.is_started ? std::string() : "cuInit failed: " + error_text(outcome);
        }
        if (driver.is_started) found = functions;
    }));
    return found;
}

std::string why_no_driver() {
    state& driver = driver_state();
    const std::lock_guard guard(driver.lock);
    return driver.problem;
}

std::string error_text(CUresult error) {
    const driver_functions* const driver = loaded_driver();
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver != nullptr) {
        driver->cuGetErrorName(error, &name);
        driver->cuGetErrorString(error, &text);
    }
    const std::string shown = name != nullptr ? name : "error " + std::to_string(int{error});
    return text != nullptr ? shown + " (" + text + ")" : shown;
}

ucs_status_t status_of(CUresult error) noexcept {
    switch (error) {
        case CUDA_SUCCESS:
            return UCS_OK;
        case CUDA_ERROR_NOT_READY:
            return UCS_INPROGRESS;
        case CUDA_ERROR_OUT_OF_MEMORY:
        case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
            return UCS_ERR_NO_MEMORY;
        case CUDA_ERROR_INVALID_VALUE:
        case CUDA_ERROR_INVALID_CONTEXT:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case CUDA_ERROR_INVALID_HANDLE:
        case CUDA_ERROR_ILLEGAL_ADDRESS:
            return UCS_ERR_INVALID_ADDR;
        case CUDA_ERROR_DEVICE_UNAVAILABLE:
        case CUDA_ERROR_NO_DEVICE:
        case CUDA_ERROR_INVALID_DEVICE:
        case CUDA_ERROR_NOT_INITIALIZED:
        case CUDA_ERROR_DEINITIALIZED:
        case CUDA_ERROR_SYSTEM_NOT_READY:
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        case CUDA_ERROR_STUB_LIBRARY:
            return UCS_ERR_NO_DEVICE;
        case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
        case CUDA_ERROR_PEER_ACCESS_NOT_ENABLED:
        case CUDA_ERROR_MAP_FAILED:
            return UCS_ERR_UNREACHABLE;
        case CUDA_ERROR_NOT_SUPPORTED:
        case CUDA_ERROR_NOT_PERMITTED:
        case CUDA_ERROR_NO_BINARY_FOR_GPU:
        case CUDA_ERROR_INVALID_IMAGE:
        case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            return UCS_ERR_UNSUPPORTED;
        default:
            return UCS_ERR_IO_ERROR;
    }
}

ucs_status_t check(CUresult outcome, const char* call, std::string_view purpose) noexcept {
    if (outcome == CUDA_SUCCESS) [[likely]]
        return UCS_OK;
    static_cast<void>(allocated([&] {
        log::error(cuda_log, "{}{}{} failed: {}", call, purpose.empty() ? "" : " ", purpose,
                   error_text(outcome));
    }));
    return status_of(outcome);
}

}  // namespace ucs::cuda
