#include "test/cuda/driver/call.hpp"

#include <cstdio>
#include <new>
#include <system_error>

#include "test/cuda/driver/counters.hpp"
#include "test/cuda/driver/device.hpp"
#include "test/cuda/driver/fault.hpp"
#include "test/cuda/driver/lifecycle.hpp"
#include "test/cuda/driver/settings.hpp"

namespace standin {
namespace {

thread_local bool is_in_host_function = false;

// Writes a line to stderr if STANDIN_TRACE asks for it.
void trace(const char* name, CUresult error, const char* reason) noexcept {
    if (options().is_tracing)
        std::fprintf(stderr, "standin: %s returns %d: %s\n", name, int{error}, reason);
}

bool works_before_init(function called) noexcept {
    switch (called) {
        case function::cuInit:
        case function::cuDriverGetVersion:
        case function::cuGetErrorName:
        case function::cuGetErrorString:
        case function::cuGetProcAddress_v2:
            return true;
        default:
            return false;
    }
}

// Refuses the call where no function gets as far as its own work.
void admit(function called) {
    if (is_in_host_function)
        fail(CUDA_ERROR_NOT_PERMITTED, "a host function of a stream may not call the driver");
    if (!works_before_init(called)) check_started();
    if (const CUresult error = take_fault(name_of(called)); error != CUDA_SUCCESS)
        fail(error, "a test asked for this failure");
    if (first_version(called) > options().version)
        fail(CUDA_ERROR_NOT_SUPPORTED, "STANDIN_VERSION is older than this function");
    if (!works_before_init(called)) check_any_device_left();
}

}  // namespace

std::mutex& state_lock() noexcept {
    static std::mutex& only = *new std::mutex;
    return only;
}

std::condition_variable& state_changed() noexcept {
    static std::condition_variable& only = *new std::condition_variable;
    return only;
}

void report_failed_operation(const failure& failed) noexcept {
    std::fprintf(stderr, "standin: an operation of a stream ends with %d: %s\n", int{failed.error},
                 failed.reason);
}

CUresult call(function called, const std::function<void(held_lock&)>& body) noexcept {
    CUresult error = CUDA_SUCCESS;
    const char* reason = "";
    try {
        count_call(called);
        held_lock lock(state_lock(), std::defer_lock);
        // In the child of a fork, another thread may have held the lock.
        if (!is_forked()) lock.lock();
        admit(called);
        body(lock);
    } catch (const failure& refused) {
        error = refused.error;
        reason = refused.reason;
    } catch (const std::bad_alloc&) {
        error = CUDA_ERROR_OUT_OF_MEMORY;
        reason = "the host has no memory";
    } catch (const std::system_error&) {
        error = CUDA_ERROR_OPERATING_SYSTEM;
        reason = "the host can start no thread";
    }
    if (error != CUDA_SUCCESS && error != CUDA_ERROR_NOT_READY)
        trace(name_of(called), error, reason);
    return error;
}

host_function_scope::host_function_scope() noexcept {
    is_in_host_function = true;
}

host_function_scope::~host_function_scope() {
    is_in_host_function = false;
}

}  // namespace standin
