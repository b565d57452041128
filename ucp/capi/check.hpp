// Argument checks of the C functions.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "ucp/api/ucp.h"
#include "ucp/log/log.hpp"
#include "ucs/cuda/driver.hpp"
#include "ucs/log/boundary.hpp"
#include "ucs/type/status.h"

namespace ucp::capi {

// Logs the call and its wrong argument. Use as `return refuse(…)`.
inline ucs_status_t refuse(const char* call, const char* reason) noexcept {
    ucs::log::error(core_log, "{}: {}", call, reason);
    return UCS_ERR_INVALID_PARAM;
}

inline bool is_cuda_memory(ucs_memory_type_t type) noexcept {
    return type == UCS_MEMORY_TYPE_CUDA || type == UCS_MEMORY_TYPE_CUDA_MANAGED;
}

// Returns true if the library accesses memory of this type. The values are those of the caller's
// headers: "unknown" is 5 up to OpenUCX 1.15 (today RDMA), 6 in 1.16 (today host memory of
// Level Zero), 9 in 1.17 to 1.20, and more in later versions.
inline bool is_usable_memory(ucs_memory_type_t type) noexcept {
    if (is_cuda_memory(type)) return ucs::cuda::loaded_driver() != nullptr;
    return type == UCS_MEMORY_TYPE_HOST || type == UCS_MEMORY_TYPE_RDMA ||
           type == UCS_MEMORY_TYPE_ZE_HOST || type >= UCS_MEMORY_TYPE_LAST;
}

// Returns true if the operation names memory that this library cannot access.
inline bool names_other_memory(const ucp_request_param_t& param) noexcept {
    return (param.op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) != 0 &&
           !is_usable_memory(param.memory_type);
}

// Returns true if an operation without a buffer (close, flush) cannot start: there is no object, no
// parameters, or the given request is NULL. The memory type is ignored.
inline bool lacks_object(const void* handle, const ucp_request_param_t* param) noexcept {
    return handle == nullptr || param == nullptr ||
           ((param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) != 0 && param->request == nullptr);
}

// Like lacks_object, for an operation with a buffer, whose memory type must be usable. A usable
// type is not compared with the buffer, whose type is found in any case. If the caller sets neither
// member, one test of the mask suffices.
inline bool is_unusable(const void* handle, const ucp_request_param_t* param) noexcept {
    constexpr std::uint32_t checked = UCP_OP_ATTR_FIELD_REQUEST | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    if (handle == nullptr || param == nullptr) return true;
    if ((param->op_attr_mask & checked) == 0) [[likely]]
        return false;
    return lacks_object(handle, param) || names_other_memory(*param);
}

// Logs the call and the memory type. Use as `return refuse_memory(…)`.
[[gnu::cold]] ucs_status_t refuse_memory(const char* call, ucs_memory_type_t type) noexcept;

// Refuses an operation whose arguments are unusable or missing; logs the reason.
[[gnu::cold]] ucs_status_ptr_t refuse_operation(const char* call,
                                                const ucp_request_param_t* param) noexcept;

// Copies a name into a fixed-size field of an attribute struct.
template<std::size_t Size>
void copy_name(char (&into)[Size], std::string_view name) noexcept {
    const std::size_t length = std::min(name.size(), Size - 1);
    std::memcpy(into, name.data(), length);
    into[length] = '\0';
}

}  // namespace ucp::capi
