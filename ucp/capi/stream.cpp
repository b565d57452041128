// Byte streams.
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/capi/legacy.hpp"
#include "ucp/stream/endpoint.hpp"
#include "ucp/stream/send.hpp"
#include "ucp/wireup/connection.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

// Endpoints that were returned move to the end of the list, so that each gets its turn.
std::size_t list_ready(worker& owner, ucp_stream_poll_ep_t* entries, std::size_t capacity) {
    auto& ready = slot_of<worker_streams>(owner).ready;
    stream_list shown;
    std::size_t count = 0;
    while (count < capacity && !ready.empty()) {
        stream_channel& next = ready.front();
        ready.pop_front();
        shown.push_back(next);
        ucp::ep& endpoint = next.owner();
        entries[count++] = {handle(endpoint), endpoint.program().user_data(), 0, {}};
    }
    ready.splice(ready.end(), shown);
    return count;
}

}  // namespace

extern "C" {

ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void* buffer, size_t count,
                                     const ucp_request_param_t* param) {
    if (is_unusable(ep, param)) [[unlikely]]
        return refuse_operation("ucp_stream_send_nbx", param);
    ucp::ep& to = from(ep);
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, "ucp_stream_send_nbx",
                         [&] { return stream_send(to, buffer, count, operation(*param)); });
}

ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                    ucp_datatype_t datatype, ucp_send_callback_t cb,
                                    unsigned flags) {
    if (flags != 0) return UCS_STATUS_PTR(refuse("ucp_stream_send_nb", "flags must be 0"));
    ucp_request_param_t param = legacy_send(cb);
    set_datatype(param, datatype);
    return ucp_stream_send_nbx(ep, buffer, count, &param);
}

ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void* buffer, size_t count, size_t* length,
                                     const ucp_request_param_t* param) {
    if (is_unusable(ep, param) || length == nullptr) [[unlikely]]
        return refuse_operation("ucp_stream_recv_nbx", param);
    ucp::ep& endpoint = from(ep);
    const worker_guard guard(endpoint.owner().lock());
    return ucs::boundary(core_log, "ucp_stream_recv_nbx", [&] {
        return stream_of(endpoint).receive(buffer, count, *length, operation(*param));
    });
}

ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void* buffer, size_t count,
                                    ucp_datatype_t datatype, ucp_stream_recv_callback_t cb,
                                    size_t* length, unsigned flags) {
    ucp_request_param_t param = legacy_recv_stream(cb);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    set_datatype(param, datatype);
    return ucp_stream_recv_nbx(ep, buffer, count, length, &param);
}

ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t* length) {
    constexpr const char* call = "ucp_stream_recv_data_nb";
    if (ep == nullptr || length == nullptr) {
        return UCS_STATUS_PTR(refuse(call, "ep or length is NULL"));
    }
    ucp::ep& endpoint = from(ep);
    const worker_guard guard(endpoint.owner().lock());
    return ucs::boundary(core_log, call, [&]() -> ucs_status_ptr_t {
        void* const data = stream_of(endpoint).take(*length);
        if (data != nullptr || !wireup::is_incoming_over(endpoint)) return data;
        return UCS_STATUS_PTR(endpoint.failure() != UCS_OK ? endpoint.failure()
                                                           : UCS_ERR_CONNECTION_RESET);
    });
}

void ucp_stream_data_release(ucp_ep_h ep, void* data) {
    if (ep == nullptr || data == nullptr) return;
    ucp::ep& endpoint = from(ep);
    const worker_guard guard(endpoint.owner().lock());
    stream_of(endpoint).release(stream_chunk::from_data(data));
}

ucs_status_t ucp_stream_recv_request_test(void* handle, size_t* length_p) {
    if (handle == nullptr || length_p == nullptr) {
        return refuse("ucp_stream_recv_request_test", "request or length_p is NULL");
    }
    const request& object = request::of(handle);
    if (!object.is_completed()) return UCS_INPROGRESS;
    if (object.kind == request_kind::recv_stream) *length_p = object.state.stream.received;
    return object.status;
}

ssize_t ucp_stream_worker_poll(ucp_worker_h worker, ucp_stream_poll_ep_t* poll_eps, size_t max_eps,
                               unsigned flags) {
    constexpr const char* call = "ucp_stream_worker_poll";
    if (worker == nullptr || (poll_eps == nullptr && max_eps > 0)) {
        return refuse(call, "worker or poll_eps is NULL");
    }
    if (flags != 0) return refuse(call, "flags must be 0");
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    return static_cast<ssize_t>(list_ready(owner, poll_eps, max_eps));
}

}  // extern "C"
