// Active messages.
#include "ucp/am/receiver.hpp"
#include "ucp/am/send.hpp"
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/capi/legacy.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

constexpr unsigned largest_id = 0xffff;

ucs_status_t set_handler(worker& owner, const char* call, unsigned id, const am_handler& handler) {
    if ((owner.owner().params().features & UCP_FEATURE_AM) == 0) {
        return refuse(call, "the context was made without UCP_FEATURE_AM");
    }
    if (id > largest_id) return refuse(call, "ids of active messages have 16 bits");
    const worker_guard guard(owner.lock());
    return ucs::boundary(core_log, call, [&] {
        slot_of<am_receiver>(owner).set_handler(static_cast<std::uint16_t>(id), handler);
        return UCS_OK;
    });
}

// Returns the error in the arguments of a send, or nullptr.
const char* find_mistake(const worker& owner, unsigned id, const void* header,
                         std::size_t header_length, std::uint32_t flags) noexcept {
    constexpr std::uint32_t both = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_RNDV;
    if (id > largest_id) return "ids of active messages have 16 bits";
    if (header_length > slot_of<am_receiver>(owner).max_header()) {
        return "the header is longer than max_am_header of ucp_worker_query";
    }
    if (header == nullptr && header_length > 0) return "the header is NULL and has a length";
    if ((flags & both) == both) return "EAGER and RNDV exclude each other";
    return nullptr;
}

}  // namespace

extern "C" {

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t* param) {
    constexpr const char* call = "ucp_worker_set_am_recv_handler";
    if (worker == nullptr || param == nullptr) return refuse(call, "worker or param is NULL");
    const auto has = [param](std::uint64_t bit) { return (param->field_mask & bit) != 0; };
    if (!has(UCP_AM_HANDLER_PARAM_FIELD_ID)) return refuse(call, "param has no id");
    // A NULL callback that was set explicitly removes the handler.
    if (!has(UCP_AM_HANDLER_PARAM_FIELD_CB)) return refuse(call, "param has no cb");
    const std::uint32_t flags = has(UCP_AM_HANDLER_PARAM_FIELD_FLAGS) ? param->flags : 0;
    am_handler handler;
    handler.call = param->cb;
    handler.arg = has(UCP_AM_HANDLER_PARAM_FIELD_ARG) ? param->arg : nullptr;
    handler.persistent = (flags & UCP_AM_FLAG_PERSISTENT_DATA) != 0;
    handler.whole = (flags & UCP_AM_FLAG_WHOLE_MSG) != 0;
    return set_handler(from(worker), call, param->id, handler);
}

ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id, ucp_am_callback_t cb,
                                       void* arg, uint32_t flags) {
    constexpr const char* call = "ucp_worker_set_am_handler";
    if (worker == nullptr) return refuse(call, "worker is NULL");
    am_handler handler;
    handler.call_older = cb;
    handler.arg = arg;
    handler.persistent = (flags & UCP_AM_FLAG_PERSISTENT_DATA) != 0;
    handler.whole = true;
    return set_handler(from(worker), call, id, handler);
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void* header, size_t header_length,
                                 const void* buffer, size_t count,
                                 const ucp_request_param_t* param) {
    constexpr const char* call = "ucp_am_send_nbx";
    if (is_unusable(ep, param)) [[unlikely]]
        return refuse_operation(call, param);
    ucp::ep& to = from(ep);
    const operation params(*param);
    const char* mistake = find_mistake(to.owner(), id, header, header_length, params.flags());
    if (mistake != nullptr) [[unlikely]]
        return UCS_STATUS_PTR(refuse(call, mistake));
    const am_message message{static_cast<std::uint16_t>(id),
                             header,
                             static_cast<std::uint32_t>(header_length),
                             buffer,
                             count,
                             params.flags()};
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, call, [&] { return am_send(to, message, params); });
}

ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void* buffer, size_t count,
                                ucp_datatype_t datatype, ucp_send_callback_t cb, unsigned flags) {
    ucp_request_param_t param = legacy_send(cb);
    set_datatype(param, datatype);
    // Handlers of the older form cannot receive by rendezvous.
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = (flags & UCP_AM_SEND_FLAG_REPLY) | UCP_AM_SEND_FLAG_EAGER;
    return ucp_am_send_nbx(ep, id, nullptr, 0, buffer, count, &param);
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void* data_desc, void* buffer,
                                      size_t count, const ucp_request_param_t* param) {
    constexpr const char* call = "ucp_am_recv_data_nbx";
    if (is_unusable(worker, param) || data_desc == nullptr) [[unlikely]]
        return refuse_operation(call, param);
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    return ucs::boundary(core_log, call, [&] {
        return slot_of<am_receiver>(owner).receive_data(am_block::from_data(data_desc), buffer,
                                                        count, operation(*param));
    });
}

void ucp_am_data_release(ucp_worker_h worker, void* data) {
    if (worker == nullptr || data == nullptr) return;
    ucp::worker& owner = from(worker);
    const worker_guard guard(owner.lock());
    slot_of<am_receiver>(owner).release(am_block::from_data(data));
}

}  // extern "C"
