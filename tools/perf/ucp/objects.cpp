#include "tools/perf/ucp/objects.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "tools/perf/ucp/progress_loop.hpp"
#include "ucp/address/padded.hpp"

namespace tools::perf {
namespace {

void require_ok(ucs_status_t status, std::string_view call) {
    if (status == UCS_OK) return;
    throw failure(fmt::format("{}: {}", call, ucs_status_string(status)));
}

ucs_thread_mode_t library_mode(thread_mode mode) {
    switch (mode) {
        case thread_mode::serialized:
            return UCS_THREAD_MODE_SERIALIZED;
        case thread_mode::multi:
            return UCS_THREAD_MODE_MULTI;
        case thread_mode::single:
            break;
    }
    return UCS_THREAD_MODE_SINGLE;
}

}  // namespace

context::context(std::uint64_t features, const test_params& params) {
    ucp_params_t ucp_params{};
    ucp_params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    ucp_params.features = features;
    ucp_params.mt_workers_shared = params.threads > 1 ? 1 : 0;
    ucp_config_t* config = nullptr;
    require_ok(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    // Request the API version whose functions this program uses, instead of the newest one of the
    // headers, so that it also measures older libraries.
    const ucs_status_t status = ucp_init_version(1, 13, &ucp_params, config, &handle_);
    ucp_config_release(config);
    require_ok(status, "ucp_init");
}

void context::close() noexcept {
    ucp_cleanup(handle_);
}

worker::worker(const context& in, const test_params& params) {
    ucp_worker_params_t ucp_params{};
    ucp_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    ucp_params.thread_mode = library_mode(params.threading);
    require_ok(ucp_worker_create(in.get(), &ucp_params, &handle_), "ucp_worker_create");
    require_thread_mode(ucp_params.thread_mode);
}

void worker::require_thread_mode(ucs_thread_mode_t required) const {
    ucp_worker_attr_t attr{};
    attr.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    require_ok(ucp_worker_query(handle_, &attr), "ucp_worker_query");
    if (attr.thread_mode < required) {
        throw failure("the library does not support the thread mode of -M");
    }
}

blob worker::address() const {
    ucp_address_t* packed = nullptr;
    std::size_t length = 0;
    require_ok(ucp_worker_get_address(handle_, &packed, &length), "ucp_worker_get_address");
    const auto* bytes = reinterpret_cast<const std::byte*>(packed);
    blob copy(bytes, bytes + length);
    ucp_worker_release_address(handle_, packed);
    return copy;
}

void worker::close() noexcept {
    ucp_worker_destroy(handle_);
}

endpoint::endpoint(const worker& from, const blob& peer_address, const test_params& params,
                   stop_flag& stop)
    : stop_(stop) {
    const ucp::address::padded address(peer_address);
    ucp_ep_params_t ucp_params{};
    ucp_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ucp_params.address = address.get();
    if (params.errors == error_handling::peer) {
        ucp_params.field_mask |=
            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        ucp_params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        ucp_params.err_handler.cb = &endpoint::on_error;
        ucp_params.err_handler.arg = this;
    }
    require_ok(ucp_ep_create(from.get(), &ucp_params, &handle_), "ucp_ep_create");
}

void endpoint::on_error(void* arg, ucp_ep_h, ucs_status_t status) {
    auto& self = *static_cast<endpoint*>(arg);
    if (self.ending_) {
        self.peer_closed_ = true;
        return;
    }
    fmt::print(stderr, "ucx_perftest: the endpoint failed: {}\n", ucs_status_string(status));
    self.stop_.request();
}

void endpoint::close(const worker& from, stop_flag& stop) {
    ucp_request_param_t param{};
    ucs_status_ptr_t request = ucp_ep_close_nbx(handle_, &param);
    ucs_status_t status = UCS_PTR_STATUS(request);
    if (UCS_PTR_IS_PTR(request)) {
        progress_loop loop(from.get(), stop);
        loop.until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
        status = ucp_request_check_status(request);
        ucp_request_free(request);
    }
    if (!peer_closed_) require_ok(status, "ucp_ep_close_nbx");
}

}  // namespace tools::perf
