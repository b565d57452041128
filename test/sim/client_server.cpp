// Endpoints by socket address: the program's listener, and its replies to connection requests.
#include <fmt/format.h>

#include <algorithm>

#include "test/sim/process.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/cm/endpoint.hpp"
#include "ucp/cm/listener.hpp"

namespace sim_test {

using ucp::capi::handle;

void process::listen() {
    if (all_.plan.sockets == 0) return;
    ucp::cm::listener_params params;
    params.address = sockets::any_address();
    params.on_request = {on_connect, this};
    auto made = ucp::cm::listener::open(ucp::cm::manager_of(*worker_), params);
    if (!made) {
        all_.records.violation("a process cannot listen");
        return;
    }
    listener_ = handle(**made);
    all_.wires.add_server(number_, (*made)->address());
    ucp::cm::manager_of(*worker_).add(std::move(*made));
}

// Later connection requests are refused. Requests that have arrived still wait for a reply.
void process::stop_listening() {
    if (listener_ == nullptr) return;
    all_.records.disturb_all(number_, all_.plan.workers);
    ucp_listener_destroy(std::exchange(listener_, nullptr));
}

void process::connect_by_socket() {
    endpoint_record& fresh = new_endpoint(all_.dice.below(all_.plan.workers));
    ucp::ep_params params;
    if (fresh.handles_errors) {
        params.error_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.error_handler = {on_error, &fresh};
    }
    ucp::cm::client_params to;
    to.to = all_.wires.relay_address(number_, fresh.to);
    to.show_client_id = all_.dice.chance(0.5);
    const auto made = ucp::cm::connect(*worker_, to, params);
    if (!made) {
        all_.records.violation(
            fmt::format("connecting by socket: {}", ucs_status_string(made.status())));
        fresh.closed = true;
        return;
    }
    fresh.handle = handle(**made);
}

void process::on_connect(ucp_conn_request_h request, void* arg) {
    auto& self = *static_cast<process*>(arg);
    self.requests_.push_back(request);
    if (self.quiet_ || self.all_.dice.chance(0.5)) self.answer_one();
}

void process::answer_one() {
    if (requests_.empty()) return;
    const std::size_t which = all_.dice.below(requests_.size());
    const ucp_conn_request_h request = requests_[which];
    requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(which));
    const ucp::cm::conn_request& seen = ucp::capi::from(request);
    const auto client =
        std::find_if(all_.processes.begin(), all_.processes.end(),
                     [&](const auto& each) { return each->uid_ == seen.request().uid; });
    if (client == all_.processes.end()) {
        all_.records.violation("a request from an unknown client");
        return;
    }
    const std::size_t from = (*client)->number_;
    ucp_conn_request_attr_t attr{};
    attr.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID;
    const ucs_status_t known = ucp_conn_request_query(request, &attr);
    if (known == UCS_OK ? attr.client_id != from + 1 : known != UCS_ERR_UNSUPPORTED) {
        all_.records.violation(
            fmt::format("worker {} presents the client id {}", from, attr.client_id));
    }
    const bool gentle = all_.plan.kind == profile::orderly || all_.plan.kind == profile::closing;
    if (!gentle && !quiet_ && listener_ != nullptr && all_.dice.chance(0.2)) {
        all_.records.disturb(number_, from);
        ucp_listener_reject(listener_, request);
        return;
    }
    accept(request, from);
}

void process::accept(ucp_conn_request_h request, std::size_t from) {
    endpoint_record& fresh = new_endpoint(from);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
    params.conn_request = request;
    if (fresh.handles_errors) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler = {on_error, &fresh};
    }
    const ucs_status_t status = ucp_ep_create(handle(*worker_), &params, &fresh.handle);
    if (status != UCS_OK) {
        fresh.closed = true;
        const bool reason = status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_UNREACHABLE;
        if (!reason || !all_.records.disturbed(number_, from)) {
            all_.records.violation(fmt::format("worker {} cannot accept worker {}: {}", number_,
                                               from, ucs_status_string(status)));
        }
        return;
    }
    if (closing_) close(fresh, all_.dice.chance(0.3));
}

}  // namespace sim_test
