// Owners of the library's handles.
#pragma once

#include <fmt/format.h>

#include <memory>

#include "tools/common/failure.hpp"
#include "tools/perf/net/frame.hpp"
#include "tools/perf/ucp/progress_loop.hpp"
#include "ucp/address/padded.hpp"

namespace tools::perf {

inline ucs_thread_mode_t library_mode(thread_mode mode) {
    constexpr ucs_thread_mode_t modes[] = {UCS_THREAD_MODE_SINGLE, UCS_THREAD_MODE_SERIALIZED,
                                           UCS_THREAD_MODE_MULTI};
    return modes[static_cast<std::size_t>(mode)];
}

// Each constructor throws failure with the library's status. Only close() destroys the object of
// the library, not the destructor: a failed test leaves its objects and exits, because destroying
// objects with operations in flight may wait for a peer that is gone.

// Owned by the session, main thread.
class context {
public:
    context(std::uint64_t features, const test_params& params) {
        ucp_params_t ucp_params{};
        ucp_params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
        ucp_params.features = features;
        ucp_params.mt_workers_shared = params.threads > 1 ? 1 : 0;
        ucp_config_t* config = nullptr;
        require_ok(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
        // Request the API version whose functions this program uses, instead of the newest one of
        // the headers, so that it also measures older libraries.
        const ucs_status_t status = ucp_init_version(1, 13, &ucp_params, config, &handle_);
        ucp_config_release(config);
        require_ok(status, "ucp_init");
    }
    ~context() = default;
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    [[nodiscard]] ucp_context_h get() const noexcept { return handle_; }
    void close() noexcept { ucp_cleanup(handle_); }

private:
    ucp_context_h handle_ = nullptr;
};

// Owned by a thread of the test, or by the first one when they share it.
class worker {
public:
    worker(const context& in, const test_params& params) {
        ucp_worker_params_t ucp_params{};
        ucp_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        ucp_params.thread_mode = library_mode(params.threading);
        require_ok(ucp_worker_create(in.get(), &ucp_params, &handle_), "ucp_worker_create");
        require_thread_mode(ucp_params.thread_mode);
    }
    ~worker() = default;
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    [[nodiscard]] ucp_worker_h get() const noexcept { return handle_; }
    [[nodiscard]] blob address() const {
        ucp_address_t* packed = nullptr;
        std::size_t length = 0;
        require_ok(ucp_worker_get_address(handle_, &packed, &length), "ucp_worker_get_address");
        const auto* bytes = reinterpret_cast<const std::byte*>(packed);
        blob copy(bytes, bytes + length);
        ucp_worker_release_address(handle_, packed);
        return copy;
    }
    void close() noexcept { ucp_worker_destroy(handle_); }

private:
    void require_thread_mode(ucs_thread_mode_t required) const {
        ucp_worker_attr_t attr{};
        attr.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
        require_ok(ucp_worker_query(handle_, &attr), "ucp_worker_query");
        if (attr.thread_mode < required) {
            throw failure("the library does not support the thread mode of -M");
        }
    }

    ucp_worker_h handle_ = nullptr;
};

// Owned by a thread of the test.
class endpoint {
public:
    endpoint(const worker& from, const blob& peer_address, const test_params& params,
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
    ~endpoint() = default;
    endpoint(const endpoint&) = delete;
    endpoint& operator=(const endpoint&) = delete;

    [[nodiscard]] ucp_ep_h get() const noexcept { return handle_; }

    // From now on a close by the peer is no failure. Call this before the peer learns that it may
    // close.
    void expect_end() noexcept { ending_ = true; }
    // Flushes pending sends, then disconnects. Progresses the worker.
    void close(const worker& from, stop_flag& stop) {
        ucp_request_param_t param{};
        progress_loop loop(from.get(), stop);
        const ucs_status_t status = loop.finish(ucp_ep_close_nbx(handle_, &param));
        if (!peer_closed_) require_ok(status, "ucp_ep_close_nbx");
    }

private:
    static void on_error(void* arg, ucp_ep_h, ucs_status_t status) {
        auto& self = *static_cast<endpoint*>(arg);
        if (self.ending_) {
            self.peer_closed_ = true;
            return;
        }
        fmt::print(stderr, "ucx_perftest: the endpoint failed: {}\n", ucs_status_string(status));
        self.stop_.request();
    }

    ucp_ep_h handle_ = nullptr;
    stop_flag& stop_;
    std::atomic<bool> ending_{false};       // callbacks run on any thread of the worker
    std::atomic<bool> peer_closed_{false};  // before this side did
};

}  // namespace tools::perf
