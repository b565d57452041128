// ucp_listener_h and ucp_conn_request_h.
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

cm::listener_params read(const ucp_listener_params_t& from) {
    const auto has = [&from](std::uint64_t bit) { return (from.field_mask & bit) != 0; };
    cm::listener_params params;
    if (has(UCP_LISTENER_PARAM_FIELD_SOCK_ADDR)) {
        params.address = uct::tcp::socket_address(from.sockaddr.addr, from.sockaddr.addrlen);
    }
    if (has(UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER)) params.on_endpoint = from.accept_handler;
    if (has(UCP_LISTENER_PARAM_FIELD_CONN_HANDLER)) params.on_request = from.conn_handler;
    return params;
}

ucs_status_t create(worker& owner, const cm::listener_params& params, ucp_listener_h* listener_p) {
    if (params.address.data()->sa_family == AF_UNSPEC) {
        return refuse("ucp_listener_create", "params.sockaddr is no IPv4 or IPv6 address");
    }
    if ((params.on_endpoint.cb == nullptr) == (params.on_request.cb == nullptr)) {
        return refuse("ucp_listener_create",
                      "one of params.conn_handler and params.accept_handler is needed");
    }
    auto made = cm::listener::open(cm::manager_of(owner), params);
    if (!made) return made.status();
    cm::listener& fresh = **made;
    cm::manager_of(owner).add(std::move(*made));
    *listener_p = handle(fresh);
    return UCS_OK;
}

}  // namespace

extern "C" {

ucs_status_t ucp_listener_create(ucp_worker_h handle, const ucp_listener_params_t* params,
                                 ucp_listener_h* listener_p) {
    if (handle == nullptr || params == nullptr || listener_p == nullptr) {
        return refuse("ucp_listener_create", "worker, params or listener_p is NULL");
    }
    worker& owner = from(handle);
    const worker_guard guard(owner.lock());
    return ucs::boundary(core_log, "ucp_listener_create",
                         [&] { return create(owner, read(*params), listener_p); });
}

void ucp_listener_destroy(ucp_listener_h handle) {
    if (handle == nullptr) return;
    worker& owner = from(handle).owner();
    const worker_guard guard(owner.lock());
    ucs::boundary(core_log, "ucp_listener_destroy",
                  [&] { cm::manager_of(owner).remove(from(handle)); });
}

ucs_status_t ucp_listener_query(ucp_listener_h handle, ucp_listener_attr_t* attr) {
    if (handle == nullptr || attr == nullptr) {
        return refuse("ucp_listener_query", "listener or attr is NULL");
    }
    const cm::listener& object = from(handle);
    const worker_guard guard(object.owner().lock());
    if ((attr->field_mask & UCP_LISTENER_ATTR_FIELD_SOCKADDR) != 0) {
        attr->sockaddr = object.address().storage();
    }
    return UCS_OK;
}

ucs_status_t ucp_listener_reject(ucp_listener_h listener, ucp_conn_request_h conn_request) {
    if (listener == nullptr || conn_request == nullptr) {
        return refuse("ucp_listener_reject", "listener or conn_request is NULL");
    }
    const worker_guard guard(from(listener).owner().lock());
    return ucs::boundary(core_log, "ucp_listener_reject", [&] {
        cm::manager& manager = cm::manager_of(from(listener).owner());
        cm::conn_request::take_back(from(conn_request))
            ->refuse(cm::wire::reason::rejected, manager);
        return UCS_OK;
    });
}

ucs_status_t ucp_conn_request_query(ucp_conn_request_h handle, ucp_conn_request_attr_t* attr) {
    if (handle == nullptr || attr == nullptr) {
        return refuse("ucp_conn_request_query", "conn_request or attr is NULL");
    }
    const cm::conn_request& object = from(handle);
    const auto wants = [attr](std::uint64_t bit) { return (attr->field_mask & bit) != 0; };
    if (wants(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR)) {
        attr->client_address = object.from().storage();
    }
    if (!wants(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID)) return UCS_OK;
    if (!object.request().shows_client_id) return UCS_ERR_UNSUPPORTED;
    attr->client_id = object.request().client_id;
    return UCS_OK;
}

}  // extern "C"
