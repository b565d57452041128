// Older forms of the interface, as thin adapters over the nbx form.
#pragma once

#include "ucp/capi/handles.hpp"
#include "ucp/core/complete.hpp"

namespace ucp::capi {

// Callbacks of the older forms take no user data. The user data carries the older callback, which
// an adapter calls. NULL means no callback.
inline void attach(ucp_request_param_t& param, void (*callback)(void)) noexcept {
    if (callback == nullptr) return;
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.user_data = reinterpret_cast<void*>(callback);
}

inline ucp_request_param_t legacy_send(ucp_send_callback_t callback) noexcept {
    ucp_request_param_t param{};
    attach(param, reinterpret_cast<void (*)(void)>(callback));
    param.cb.send = [](void* request, ucs_status_t status, void* user_data) {
        reinterpret_cast<ucp_send_callback_t>(user_data)(request, status);
    };
    return param;
}

inline ucp_request_param_t legacy_recv(ucp_tag_recv_callback_t callback) noexcept {
    ucp_request_param_t param{};
    // These forms always return a request, even if the operation completes at once.
    param.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    attach(param, reinterpret_cast<void (*)(void)>(callback));
    param.cb.recv = [](void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                       void* user_data) {
        ucp_tag_recv_info_t copy = *info;  // the older type may write to it
        reinterpret_cast<ucp_tag_recv_callback_t>(user_data)(request, status, &copy);
    };
    return param;
}

inline ucp_request_param_t legacy_recv_stream(ucp_stream_recv_callback_t callback) noexcept {
    ucp_request_param_t param{};
    attach(param, reinterpret_cast<void (*)(void)>(callback));
    param.cb.recv_stream = [](void* request, ucs_status_t status, std::size_t length,
                              void* user_data) {
        reinterpret_cast<ucp_stream_recv_callback_t>(user_data)(request, status, length);
    };
    return param;
}

inline void set_datatype(ucp_request_param_t& param, ucp_datatype_t datatype) noexcept {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = datatype;
}

// Makes progress until the operation ends, then frees its request. Used by the blocking forms.
ucs_status_t wait_for(worker& owner, ucs_status_ptr_t started);

}  // namespace ucp::capi
