// Tagged messages.
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/capi/legacy.hpp"
#include "ucp/tag/matcher.hpp"
#include "ucp/tag/send.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

// The *_nbr forms pass their own request and return a plain status.
ucs_status_t as_status(ucs_status_ptr_t result) {
    return UCS_PTR_STATUS(result);
}

}  // namespace

extern "C" {

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void* buffer, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t* param) {
    if (is_unusable(ep, param)) [[unlikely]]
        return refuse_operation("ucp_tag_send_nbx", param);
    ucp::ep& to = from(ep);
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, "ucp_tag_send_nbx",
                         [&] { return tag_send(to, buffer, count, tag, operation(*param)); });
}

ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void* buffer, size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t* param) {
    if (is_unusable(ep, param)) [[unlikely]]
        return refuse_operation("ucp_tag_send_sync_nbx", param);
    ucp::ep& to = from(ep);
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, "ucp_tag_send_sync_nbx", [&] {
        return tag_send_request(to, buffer, count, tag, true, operation(*param));
    });
}

ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag, ucp_send_callback_t cb) {
    ucp_request_param_t param = legacy_send(cb);
    set_datatype(param, datatype);
    return ucp_tag_send_nbx(ep, buffer, count, tag, &param);
}

ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                      ucp_datatype_t datatype, ucp_tag_t tag,
                                      ucp_send_callback_t cb) {
    ucp_request_param_t param = legacy_send(cb);
    set_datatype(param, datatype);
    return ucp_tag_send_sync_nbx(ep, buffer, count, tag, &param);
}

ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep, const void* buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag, void* req) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST;
    param.request = req;
    set_datatype(param, datatype);
    return as_status(ucp_tag_send_nbx(ep, buffer, count, tag, &param));
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t tag_mask, const ucp_request_param_t* param) {
    if (is_unusable(worker, param)) [[unlikely]]
        return refuse_operation("ucp_tag_recv_nbx", param);
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    return ucs::boundary(core_log, "ucp_tag_recv_nbx", [&] {
        return slot_of<tag_matcher>(owner).receive(buffer, count, tag, tag_mask, operation(*param));
    });
}

ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void* buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag, ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb) {
    ucp_request_param_t param = legacy_recv(cb);
    set_datatype(param, datatype);
    return ucp_tag_recv_nbx(worker, buffer, count, tag, tag_mask, &param);
}

ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker, void* buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag, ucp_tag_t tag_mask,
                              void* req) {
    ucp_request_param_t param{};
    // The result is always in the request, even if the receive completes at once.
    param.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.request = req;
    set_datatype(param, datatype);
    const ucs_status_ptr_t result = ucp_tag_recv_nbx(worker, buffer, count, tag, tag_mask, &param);
    return UCS_PTR_IS_ERR(result) ? UCS_PTR_RAW_STATUS(result) : UCS_OK;
}

ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag, ucp_tag_t tag_mask,
                                   int remove, ucp_tag_recv_info_t* info) {
    if (worker == nullptr) [[unlikely]]
        return nullptr;
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    ucp_tag_recv_info_t unwanted;
    return ucs::boundary(core_log, "ucp_tag_probe_nb", [&] {
        return handle(slot_of<tag_matcher>(owner).probe(tag, tag_mask, remove != 0,
                                                        info != nullptr ? *info : unwanted));
    });
}

ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void* buffer, size_t count,
                                      ucp_tag_message_h message, const ucp_request_param_t* param) {
    if (is_unusable(worker, param) || message == nullptr) [[unlikely]]
        return refuse_operation("ucp_tag_msg_recv_nbx", param);
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    return ucs::boundary(core_log, "ucp_tag_msg_recv_nbx", [&] {
        return slot_of<tag_matcher>(owner).receive_probed(buffer, count, from(message),
                                                          operation(*param));
    });
}

ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void* buffer, size_t count,
                                     ucp_datatype_t datatype, ucp_tag_message_h message,
                                     ucp_tag_recv_callback_t cb) {
    ucp_request_param_t param = legacy_recv(cb);
    set_datatype(param, datatype);
    return ucp_tag_msg_recv_nbx(worker, buffer, count, message, &param);
}

}  // extern "C"
