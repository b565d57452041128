// The boundary that keeps exceptions inside C functions and callbacks.
#pragma once

#include <type_traits>

#include "ucs/log/log.hpp"
#include "ucs/type/status.h"

namespace ucs {

// The exception that a boundary has caught. The text is valid until on_failure returns.
struct failure {
    ucs_status_t status;
    const char* text;
};

// Describes the exception that is being handled.
[[gnu::cold]] failure describe_exception() noexcept;
// Logs it under `name`, and returns its status.
[[gnu::cold]] ucs_status_t log_exception(const log::component& source, const char* name) noexcept;

// Converts `status` to the return type of a function that failed.
template<class Result>
Result failed_with(ucs_status_t status) noexcept {
    if constexpr (std::is_same_v<Result, ucs_status_t>) {
        return status;
    } else if constexpr (std::is_same_v<Result, ucs_status_ptr_t>) {
        return UCS_STATUS_PTR(status);
    } else {
        return Result();  // nothing found, no event, void
    }
}

// Runs the body of a C function or of a callback (message, event, timer). If the body throws,
// returns the result of on_failure(failure). The body must undo its own work before it throws; an
// operation that has begun must not throw.
template<class Body, class OnFailure>
auto boundary(Body&& body, OnFailure&& on_failure) noexcept -> decltype(body()) {
    try {
        return body();
    } catch (...) {
        return on_failure(describe_exception());
    }
}

// Like above; logs the failure under `name` and returns its status. The way without a failure
// stores nothing for it, since each call of the C interface takes that way.
template<class Body>
auto boundary(const log::component& source, const char* name, Body&& body) noexcept
    -> decltype(body()) {
    try {
        return body();
    } catch (...) {
        return failed_with<decltype(body())>(log_exception(source, name));
    }
}

}  // namespace ucs
