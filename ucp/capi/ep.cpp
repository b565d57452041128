// ucp_ep_h: creation, closing, flush, attributes, text.

#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/capi/legacy.hpp"
#include "ucp/capi/private_flags.hpp"
#include "ucp/cm/endpoint.hpp"
#include "ucp/core/complete.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucs/arch/fence.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

ep_params read(const ucp_ep_params_t& from) {
    const auto has = [&from](std::uint64_t bit) { return (from.field_mask & bit) != 0; };
    ep_params params;
    if (has(UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE)) params.error_mode = from.err_mode;
    if (has(UCP_EP_PARAM_FIELD_ERR_HANDLER)) params.error_handler = from.err_handler;
    if (has(UCP_EP_PARAM_FIELD_USER_DATA)) params.user_data = from.user_data;
    if (has(UCP_EP_PARAM_FIELD_FLAGS)) {
        params.no_loopback = (from.flags & UCP_EP_PARAMS_FLAGS_NO_LOOPBACK) != 0;
        params.apart = (from.flags & ep_flag_apart) != 0;
    }
    if (has(UCP_EP_PARAM_FIELD_NAME) && from.name != nullptr) params.name = from.name;
    return params;
}

// Connects to a server that listens at a socket address.
ucs::result<ep*> connect_client(worker& owner, const ucp_ep_params_t& from) {
    const auto has = [&from](std::uint64_t bit) { return (from.field_mask & bit) != 0; };
    const unsigned flags = has(UCP_EP_PARAM_FIELD_FLAGS) ? from.flags : 0;
    if ((flags & UCP_EP_PARAMS_FLAGS_CLIENT_SERVER) == 0) {
        return refuse("ucp_ep_create",
                      "params.sockaddr needs UCP_EP_PARAMS_FLAGS_CLIENT_SERVER in params.flags");
    }
    cm::client_params client;
    client.to = uct::tcp::socket_address(from.sockaddr.addr, from.sockaddr.addrlen);
    if (client.to.data()->sa_family == AF_UNSPEC) {
        return refuse("ucp_ep_create", "params.sockaddr is no IPv4 or IPv6 address");
    }
    if (has(UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR)) {
        client.from =
            uct::tcp::socket_address(from.local_sockaddr.addr, from.local_sockaddr.addrlen);
        if (client.from.data()->sa_family != client.to.data()->sa_family) {
            return refuse("ucp_ep_create",
                          "params.local_sockaddr is not of the family of params.sockaddr");
        }
    }
    client.show_client_id = (flags & UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID) != 0;
    return cm::connect(owner, client, read(from));
}

ucs::result<ep*> make(worker& owner, const ucp_ep_params_t& params) {
    const auto has = [&params](std::uint64_t bit) { return (params.field_mask & bit) != 0; };
    if (has(UCP_EP_PARAM_FIELD_CONN_REQUEST)) {
        if (params.conn_request == nullptr) {
            return refuse("ucp_ep_create", "params.conn_request is NULL");
        }
        return cm::accept(owner, cm::conn_request::take_back(from(params.conn_request)),
                          read(params));
    }
    if (has(UCP_EP_PARAM_FIELD_SOCK_ADDR)) return connect_client(owner, params);
    if (!has(UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) || params.address == nullptr) {
        return refuse("ucp_ep_create", "params.address is missing");
    }
    return wireup::create_ep(owner, params.address, read(params));
}

ucs_status_t create(worker& owner, const ucp_ep_params_t& params, ucp_ep_h* ep_p) {
    auto made = make(owner, params);
    if (!made) {
        owner.log().count(activity::ep_creation_failures);
        return made.status();
    }
    *ep_p = handle(**made);
    return UCS_OK;
}

ucs_status_ptr_t flush(ep& endpoint, const operation& params, bool close_after) {
    // Direct stores become visible to all processes before anything that follows.
    ucs::arch::full_fence();
    request* waiting = begin_call(endpoint.owner(), params);
    if (waiting == nullptr) {
        if (close_after) wireup::close_flushed(endpoint);
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }
    set_send_callback(*waiting, params);
    waiting->start_flush().close_after = close_after;
    const ucs_status_t status = endpoint.operations().start_flush(*waiting);
    if (status != UCS_INPROGRESS) {
        // This comes before any callback, because a callback may ask for an endpoint to the same
        // peer.
        if (close_after) wireup::close_flushed(endpoint);
        endpoint.owner().postponed().complete_in_order(*waiting, status);
    }
    return end_call(*waiting, params);
}

ucs_status_ptr_t close(ep& endpoint, const operation& params) {
    endpoint.owner().log().count(activity::ep_closures);
    if ((params.flags() & UCP_EP_CLOSE_FLAG_FORCE) != 0) {
        wireup::close_forced(endpoint);
        return nullptr;
    }
    // The program must not use the handle from here on, so no error callback is called, whatever
    // happens to the flush.
    wireup::detach(endpoint);
    return flush(endpoint, params, true);
}

ucs_status_t query(ep& endpoint, ucp_ep_attr_t* attr) {
    const auto wants = [attr](std::uint64_t bit) { return (attr->field_mask & bit) != 0; };
    if (wants(UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR) || wants(UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR)) {
        const auto* part = static_cast<const cm::ep_part*>(wireup::socket_of(endpoint));
        if (part == nullptr || part->local().data()->sa_family == AF_UNSPEC) {
            return UCS_ERR_NOT_CONNECTED;
        }
        if (wants(UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR)) attr->local_sockaddr = part->local().storage();
        if (wants(UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR)) {
            attr->remote_sockaddr = part->remote().storage();
        }
    }
    if (wants(UCP_EP_ATTR_FIELD_NAME)) copy_name(attr->name, endpoint.program().name());
    if (wants(UCP_EP_ATTR_FIELD_USER_DATA)) attr->user_data = endpoint.program().user_data();
    if (!wants(UCP_EP_ATTR_FIELD_TRANSPORTS)) return UCS_OK;
    ucp_transports_t& list = attr->transports;
    if (list.num_entries > 0 &&
        (list.entries == nullptr || list.entry_size < sizeof(ucp_transport_entry_t))) {
        return refuse("ucp_ep_query", "transports has no entries, or their size is too small");
    }
    // Lanes are chosen at the first use, but a program may query before that.
    if (const ucs_status_t status = slot_of<wireup::lane_setup>(endpoint.remote()).connect();
        status != UCS_OK)
        return status;
    unsigned count = 0;
    const ucp::lane& bootstrap = endpoint.remote().lanes().bootstrap;
    for (const ucp::wireup::lane_in_use& each : ucp::wireup::lanes_in_use(endpoint.remote())) {
        if (each.endpoint == bootstrap.endpoint.get() || count == list.num_entries) break;
        // The caller's entries may be longer than this library's.
        auto* entry = reinterpret_cast<ucp_transport_entry_t*>(
            reinterpret_cast<std::byte*>(list.entries) + count * list.entry_size);
        entry->transport_name = each.where->transport.c_str();
        entry->device_name = each.where->device.c_str();
        ++count;
    }
    list.num_entries = count;
    return UCS_OK;
}

}  // namespace

extern "C" {

ucs_status_t ucp_ep_create(ucp_worker_h handle, const ucp_ep_params_t* params, ucp_ep_h* ep_p) {
    if (handle == nullptr || params == nullptr || ep_p == nullptr) {
        return refuse("ucp_ep_create", "worker, params or ep_p is NULL");
    }
    worker& owner = from(handle);
    const worker_guard guard(owner.lock());
    return ucs::boundary(core_log, "ucp_ep_create", [&] { return create(owner, *params, ep_p); });
}

ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h handle, const ucp_request_param_t* param) {
    if (lacks_object(handle, param)) [[unlikely]]
        return refuse_operation("ucp_ep_close_nbx", param);
    ep& endpoint = from(handle);
    const worker_guard guard(endpoint.owner().lock());
    return ucs::boundary(core_log, "ucp_ep_close_nbx",
                         [&] { return close(endpoint, operation(*param)); });
}

ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h handle, unsigned mode) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = mode == UCP_EP_CLOSE_MODE_FORCE ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    return ucp_ep_close_nbx(handle, &param);
}

ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h handle) {
    return ucp_ep_close_nb(handle, UCP_EP_CLOSE_MODE_FLUSH);
}

void ucp_ep_destroy(ucp_ep_h handle) {
    if (handle == nullptr) return;
    worker& owner = from(handle).owner();
    wait_for(owner, ucp_ep_close_nb(handle, UCP_EP_CLOSE_MODE_FLUSH));
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h handle, const ucp_request_param_t* param) {
    if (lacks_object(handle, param)) [[unlikely]]
        return refuse_operation("ucp_ep_flush_nbx", param);
    ep& endpoint = from(handle);
    const worker_guard guard(endpoint.owner().lock());
    return ucs::boundary(core_log, "ucp_ep_flush_nbx",
                         [&] { return flush(endpoint, operation(*param), false); });
}

ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h handle, unsigned, ucp_send_callback_t cb) {
    const ucp_request_param_t param = legacy_send(cb);
    return ucp_ep_flush_nbx(handle, &param);
}

ucs_status_t ucp_ep_flush(ucp_ep_h handle) {
    if (handle == nullptr) return refuse("ucp_ep_flush", "ep is NULL");
    const ucp_request_param_t param{};
    return wait_for(from(handle).owner(), ucp_ep_flush_nbx(handle, &param));
}

ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h handle, const ucp_ep_params_t* params) {
    if (handle == nullptr || params == nullptr) {
        return UCS_STATUS_PTR(refuse("ucp_ep_modify_nb", "ep or params is NULL"));
    }
    ep& endpoint = from(handle);
    const worker_guard guard(endpoint.owner().lock());
    constexpr std::uint64_t changeable =
        UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_USER_DATA;
    if ((params->field_mask & ~changeable) != 0) {
        return UCS_STATUS_PTR(
            refuse("ucp_ep_modify_nb", "only the error handler and the user data can change"));
    }
    const auto has = [params](std::uint64_t bit) { return (params->field_mask & bit) != 0; };
    endpoint.program().modify(has(UCP_EP_PARAM_FIELD_ERR_HANDLER) ? &params->err_handler : nullptr,
                              has(UCP_EP_PARAM_FIELD_USER_DATA) ? &params->user_data : nullptr);
    return nullptr;
}

void ucp_ep_print_info(ucp_ep_h handle, FILE* stream) {
    if (handle == nullptr || stream == nullptr) return;
    ep& endpoint = from(handle);
    const worker_guard guard(endpoint.owner().lock());
    ucs::boundary(core_log, "ucp_ep_print_info",
                  [&] { std::fputs(wireup::explain(endpoint).c_str(), stream); });
}

ucs_status_t ucp_ep_query(ucp_ep_h handle, ucp_ep_attr_t* attr) {
    if (handle == nullptr || attr == nullptr) return refuse("ucp_ep_query", "ep or attr is NULL");
    ep& endpoint = from(handle);
    const worker_guard guard(endpoint.owner().lock());
    return ucs::boundary(core_log, "ucp_ep_query", [&] { return query(endpoint, attr); });
}

ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h handle, const ucp_ep_evaluate_perf_param_t* param,
                                  ucp_ep_evaluate_perf_attr_t* attr) {
    if (handle == nullptr || param == nullptr || attr == nullptr ||
        (param->field_mask & UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE) == 0) {
        return refuse("ucp_ep_evaluate_perf", "ep, attr or the message size is missing");
    }
    ep& endpoint = from(handle);
    const worker_guard guard(endpoint.owner().lock());
    if (const ucs_status_t status = slot_of<wireup::lane_setup>(endpoint.remote()).connect();
        status != UCS_OK)
        return status;
    if ((attr->field_mask & UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME) != 0) {
        attr->estimated_time = slot_of<wireup::lane_setup>(endpoint.remote())
                                   .protocols()
                                   ->predict({ucp::send_kind::tag, true}, param->message_size);
    }
    return UCS_OK;
}

}  // extern "C"
