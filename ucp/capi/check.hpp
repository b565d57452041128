// Refusing impossible arguments, and keeping exceptions inside.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "ucp/api/ucp.h"
#include "ucp/core/log.hpp"
#include "ucs/type/status.h"

namespace ucp::capi {

// Logs which call got what wrong argument; for `return refuse(…)`.
inline ucs_status_t refuse(const char* call, const char* why) noexcept {
    ucs::log::error(core_log, "{}: {}", call, why);
    return UCS_ERR_INVALID_PARAM;
}

// Whether an operation cannot start: no object, no parameters, or a request that is not there.
inline bool unusable(const void* handle, const ucp_request_param_t* param) noexcept {
    return handle == nullptr || param == nullptr ||
           ((param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) != 0 && param->request == nullptr);
}

// Refuses such an operation.
[[gnu::cold]] inline ucs_status_ptr_t refuse_operation(const char* call) noexcept {
    return UCS_STATUS_PTR(refuse(call, "the object, param or param.request is NULL"));
}

// What a C function returns when it failed with `status`.
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

// Tells of the exception that is being handled.
[[gnu::cold]] ucs_status_t report_exception(const char* call) noexcept;

// Runs the body of a C function; no exception crosses the boundary. What the body does is undone by
// itself then: an operation that has begun must not throw.
template<class Body>
auto guarded(const char* call, Body&& body) noexcept -> decltype(body()) {
    try {
        return body();
    } catch (...) {
        return failed_with<decltype(body())>(report_exception(call));
    }
}

// Copies a name into one of the fixed fields of the attribute structs.
template<std::size_t Size>
void copy_name(char (&into)[Size], std::string_view name) noexcept {
    const std::size_t length = std::min(name.size(), Size - 1);
    std::memcpy(into, name.data(), length);
    into[length] = '\0';
}

}  // namespace ucp::capi
