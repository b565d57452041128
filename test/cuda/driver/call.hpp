// The entry into the stand-in that all of its functions share.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "test/cuda/driver/functions.hpp"

namespace standin {

// Thrown by the parts of the stand-in; the caller of the driver gets `error`. `reason` is a
// literal.
struct failure {
    CUresult error;
    const char* reason;
};

[[noreturn]] inline void fail(CUresult error, const char* reason) {
    throw failure{error, reason};
}

inline void check_argument(bool is_valid, const char* reason) {
    if (!is_valid) fail(CUDA_ERROR_INVALID_VALUE, reason);
}

inline void check_pointer(const void* argument) {
    check_argument(argument != nullptr, "an argument is null");
}

// One lock guards all objects of the stand-in. Code that waits gives it up.
using held_lock = std::unique_lock<std::mutex>;
std::mutex& state_lock() noexcept;

// Notified, with the lock held, whenever something happens that a thread may wait for.
std::condition_variable& state_changed() noexcept;

// Runs the body of a function of the driver with the lock held, and returns its result. Counts the
// call, and refuses it where every function does: before cuInit, after a fork, in a host function,
// when the driver is too old for it, or when a test has asked for a failure.
CUresult call(function called, const std::function<void(held_lock&)>& body) noexcept;

// Writes a line to stderr about an operation that failed while its stream ran it. The program
// learns of it later, by another call, and only the error.
void report_failed_operation(const failure& failed) noexcept;

// Marks a thread that runs a host function of a stream: it may not call the driver.
class host_function_scope {
public:
    host_function_scope() noexcept;
    ~host_function_scope();
    host_function_scope(const host_function_scope&) = delete;
    host_function_scope& operator=(const host_function_scope&) = delete;
};

}  // namespace standin
