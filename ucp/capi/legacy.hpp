// The older forms of the interface as thin adapters over the nbx form.
#pragma once

#include "ucp/capi/handles.hpp"
#include "ucp/core/complete.hpp"

namespace ucp::capi {

// Callbacks of the older forms take fewer arguments; calling them with one more is harmless in
// every C calling convention that we support. NULL means no callback.
inline ucp_request_param_t legacy_send(ucp_send_callback_t callback) noexcept {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
    param.cb.send =
        reinterpret_cast<ucp_send_nbx_callback_t>(reinterpret_cast<void (*)(void)>(callback));
    return param;
}

inline ucp_request_param_t legacy_recv(ucp_tag_recv_callback_t callback) noexcept {
    ucp_request_param_t param{};
    // These forms always return a request.
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.cb.recv =
        reinterpret_cast<ucp_tag_recv_nbx_callback_t>(reinterpret_cast<void (*)(void)>(callback));
    return param;
}

inline void set_datatype(ucp_request_param_t& param, ucp_datatype_t datatype) noexcept {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = datatype;
}

// Progresses until the operation ends and frees its request; blocking forms.
ucs_status_t wait_for(worker& owner, ucs_status_ptr_t started);

}  // namespace ucp::capi
