// Conversions between C handles and C++ objects, and the common begin of the C functions.
#pragma once

#include <ucg/api/ucg.h>

#include <mutex>

#include "ucg/core/group.hpp"
#include "ucg/core/request.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"
#include "ucs/type/handle.hpp"

namespace ucg::capi {

UCS_HANDLE(ucg_context_h, context)
UCS_HANDLE(ucg_group_h, group)
UCS_HANDLE(ucg_request_h, request)

inline ucs_status_t refuse(const char* call, const char* reason,
                           ucs_status_t status = UCS_ERR_INVALID_PARAM) noexcept {
    ucs::log::error(core_log, "{}: {}", call, reason);
    return status;
}

// Checks that operations can be started in the group.
inline ucs_status_t check_usable(const char* call, ucg_group_h handle) noexcept {
    if (handle == nullptr) return refuse(call, "the group is NULL");
    const group& self = from(handle);
    if (self.is_none()) return refuse(call, "this rank is not in the group");
    if (self.state() == UCS_INPROGRESS)
        return refuse(call, "the group is not ready: ucg_group_test() says when it is",
                      UCS_ERR_BUSY);
    return self.state();
}

// Runs the body of a C function under the context's lock, and catches its exceptions.
template<class Body>
ucs_status_t with_lock(context& owner, Body&& body,
                       const char* call = __builtin_FUNCTION()) noexcept {
    return ucs::boundary(core_log, call, [&] {
        const std::lock_guard guard(owner.lock());
        return body();
    });
}

// Copies the members that the caller's version of the struct has, except the size.
template<class Struct>
[[nodiscard]] ucs_status_t return_attr(Struct* attr, const Struct& all) noexcept {
    const std::size_t size = std::min(attr->struct_size, sizeof all);
    if (size <= sizeof attr->struct_size)
        return refuse("query", "attr was not initialised by the macro of its type");
    std::memcpy(reinterpret_cast<char*>(attr) + sizeof attr->struct_size,
                reinterpret_cast<const char*>(&all) + sizeof all.struct_size,
                size - sizeof all.struct_size);
    return UCS_OK;
}

// Makes progress until the request has ended. In thread mode MULTI other threads may enter in
// between.
ucs_status_t wait_for(request& request) noexcept;

}  // namespace ucg::capi
