#include "ucp/capi/check.hpp"

namespace ucp::capi {

ucs_status_t refuse_memory(const char* call, ucs_memory_type_t type) noexcept {
    if (is_cuda_memory(type)) {
        ucs::log::error(core_log, "{}: memory of type {} cannot be used here: {}", call,
                        static_cast<int>(type), ucs::cuda::why_no_driver());
    } else {
        ucs::log::error(core_log,
                        "{}: memory of type {} is not supported, only that of the host and of "
                        "CUDA is",
                        call, static_cast<int>(type));
    }
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_ptr_t refuse_operation(const char* call, const ucp_request_param_t* param) noexcept {
    if (param != nullptr && names_other_memory(*param))
        return UCS_STATUS_PTR(refuse_memory(call, param->memory_type));
    return UCS_STATUS_PTR(refuse(call, "the object, param or param.request is NULL"));
}

}  // namespace ucp::capi
