#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "tools/common/failure.hpp"
#include "tools/common/ticks.hpp"
#include "tools/info/ucp_objects.hpp"

namespace tools::info {
namespace {

constexpr std::uint64_t timeout_ns = 5'000'000'000;

void print_cost(const cost& value) {
    fmt::print("# memory: {:.2f}MB, file descriptors: {}\n# create time: {:.3f} ms\n#\n",
               value.megabytes, value.descriptors, value.milliseconds);
}

ucs_status_t wait_for(ucp_worker_h worker, ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) return UCS_PTR_STATUS(request);
    const std::uint64_t start = monotonic_ns();
    ucs_status_t status = UCS_INPROGRESS;
    while (status == UCS_INPROGRESS && monotonic_ns() - start < timeout_ns) {
        ucp_worker_progress(worker);
        status = ucp_request_check_status(request);
    }
    ucp_request_free(request);
    return status == UCS_INPROGRESS ? UCS_ERR_TIMED_OUT : status;
}

// Establishes the connection, so that the page shows the lanes in use instead of planned ones.
// Returns whether the connection was established.
bool establish(const ucp_objects& own, ucp_ep_h ep, const options& opts) {
    ucp_request_param_t param{};
    constexpr ucp_tag_t tag = 1;
    const bool tags = (opts.features & UCP_FEATURE_TAG) != 0;
    ucs_status_t status = UCS_OK;
    if (tags) status = wait_for(own.worker(), ucp_tag_send_nbx(ep, nullptr, 0, tag, &param));
    if (status == UCS_OK) status = wait_for(own.worker(), ucp_ep_flush_nbx(ep, &param));
    if (status != UCS_OK) {
        fmt::print("# The peer could not be reached: {}\n", ucs_status_string(status));
    }
    if (status == UCS_OK && tags && opts.peer == placement::self) {
        wait_for(own.worker(),
                 ucp_tag_recv_nbx(own.worker(), nullptr, 0, tag, ~ucp_tag_t{0}, &param));
    }
    return status == UCS_OK;
}

void ignore_error(void*, ucp_ep_h, ucs_status_t) {}

void print_endpoint(const ucp_objects& own, const std::vector<std::byte>& peer_address,
                    const options& opts) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(peer_address.data());
    if (opts.error_handling) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler.cb = &ignore_error;
    }
    ucp_ep_h ep = nullptr;
    require_ok(ucp_ep_create(own.worker(), &params, &ep), "ucp_ep_create");
    const bool reached = establish(own, ep, opts);
    std::fflush(stdout);
    ucp_ep_print_info(ep, stdout);
    ucp_request_param_t param{};
    if (!reached) {  // do not wait for the peer a second time
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    }
    wait_for(own.worker(), ucp_ep_close_nbx(ep, &param));
}

}  // namespace

void print_ucp(const options& opts) {
    std::unique_ptr<peer_process> peer;
    if (opts.endpoint && opts.peer != placement::self) {
        std::fflush(stdout);
        peer = std::make_unique<peer_process>(opts);
    }
    const ucp_objects own(opts);
    if (!own.transport_restriction().empty()) {
        fmt::print("# {}\n#\n", own.transport_restriction());
    }
    if (opts.context) {
        ucp_context_print_info(own.context(), stdout);
        print_cost(own.context_cost());
    }
    if (opts.worker) {
        ucp_worker_print_info(own.worker(), stdout);
        print_cost(own.worker_cost());
    }
    if (opts.endpoint) {
        print_endpoint(own, peer ? peer->address() : own.address(), opts);
    }
}

}  // namespace tools::info
