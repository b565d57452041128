// Owners of the library's handles.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>

#include "tools/perf/core/stop_flag.hpp"
#include "tools/perf/core/test_params.hpp"
#include "tools/perf/net/frame.hpp"

namespace tools::perf {

// Each constructor throws failure with the library's status. Only close() destroys the object of
// the library, not the destructor: a failed test leaves its objects and exits, because destroying
// objects with operations in flight may wait for a peer that is gone.

// Owned by the session, main thread.
class context {
public:
    context(std::uint64_t features, const test_params& params);
    ~context() = default;
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    [[nodiscard]] ucp_context_h get() const noexcept { return handle_; }
    void close() noexcept;

private:
    ucp_context_h handle_ = nullptr;
};

// Owned by a thread of the test, or by the first one when they share it.
class worker {
public:
    worker(const context& in, const test_params& params);
    ~worker() = default;
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    [[nodiscard]] ucp_worker_h get() const noexcept { return handle_; }
    [[nodiscard]] blob address() const;
    void close() noexcept;

private:
    void require_thread_mode(ucs_thread_mode_t required) const;

    ucp_worker_h handle_ = nullptr;
};

// Owned by a thread of the test.
class endpoint {
public:
    endpoint(const worker& from, const blob& peer_address, const test_params& params,
             stop_flag& stop);
    ~endpoint() = default;
    endpoint(const endpoint&) = delete;
    endpoint& operator=(const endpoint&) = delete;

    [[nodiscard]] ucp_ep_h get() const noexcept { return handle_; }

    // From now on a close by the peer is no failure. Call this before the peer learns that it may
    // close.
    void expect_end() noexcept { ending_ = true; }
    // Flushes pending sends, then disconnects. Progresses the worker.
    void close(const worker& from, stop_flag& stop);

private:
    static void on_error(void* arg, ucp_ep_h ep, ucs_status_t status);

    ucp_ep_h handle_ = nullptr;
    stop_flag& stop_;
    std::atomic<bool> ending_{false};       // callbacks run on any thread of the worker
    std::atomic<bool> peer_closed_{false};  // before this side did
};

}  // namespace tools::perf
