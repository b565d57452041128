// The only place where C handles and C++ objects are cast into each other, and how C calls begin.
#pragma once

#include <ucg/api/ucg.h>

#include <mutex>
#include <new>

#include "ucg/core/group.hpp"
#include "ucg/core/log.hpp"
#include "ucg/core/request.hpp"

namespace ucg::capi {

inline context& from(ucg_context_h handle) noexcept {
    return *reinterpret_cast<context*>(handle);
}
inline group& from(ucg_group_h handle) noexcept {
    return *reinterpret_cast<group*>(handle);
}
inline request& from(ucg_request_h handle) noexcept {
    return *reinterpret_cast<request*>(handle);
}
inline ucg_context_h handle(context& object) noexcept {
    return reinterpret_cast<ucg_context_h>(&object);
}
inline ucg_group_h handle(group& object) noexcept {
    return reinterpret_cast<ucg_group_h>(&object);
}
inline ucg_request_h handle(request& object) noexcept {
    return reinterpret_cast<ucg_request_h>(&object);
}

inline ucs_status_t refuse(const char* call, const char* why,
                           ucs_status_t status = UCS_ERR_INVALID_PARAM) noexcept {
    ucs::log::error(core_log, "{}: {}", call, why);
    return status;
}

// Whether operations can be started in it.
inline ucs_status_t check_usable(const char* call, ucg_group_h handle) noexcept {
    if (handle == nullptr) return refuse(call, "the group is NULL");
    const group& of = from(handle);
    if (of.is_none()) return refuse(call, "this rank is not in the group");
    if (of.state() == UCS_INPROGRESS)
        return refuse(call, "the group is not ready: ucg_group_test() says when it is",
                      UCS_ERR_BUSY);
    return of.state();
}

// Runs the body of a C function under the context's lock; no exception crosses the boundary.
template<class Body>
ucs_status_t guarded(context& of, Body&& body) noexcept try {
    const std::lock_guard guard(of.lock());
    return body();
} catch (const std::bad_alloc&) {
    return UCS_ERR_NO_MEMORY;
} catch (const std::exception& error) {
    ucs::log::error(core_log, "unexpected: {}", error.what());
    return UCS_ERR_IO_ERROR;
}

// Copies what a struct that the caller's version knows has room for, the size itself excepted.
template<class Struct>
[[nodiscard]] ucs_status_t give(Struct* into, const Struct& all) noexcept {
    const std::size_t known = std::min(into->struct_size, sizeof all);
    if (known <= sizeof into->struct_size)
        return refuse("query", "attr was not initialised by the macro of its type");
    std::memcpy(reinterpret_cast<char*>(into) + sizeof into->struct_size,
                reinterpret_cast<const char*>(&all) + sizeof all.struct_size,
                known - sizeof all.struct_size);
    return UCS_OK;
}

// Makes progress until `done`; in thread mode MULTI other threads have their turns meanwhile.
ucs_status_t wait_for(request& what) noexcept;

}  // namespace ucg::capi
