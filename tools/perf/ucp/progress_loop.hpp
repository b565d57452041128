// Waits for conditions while a worker progresses.
#pragma once

#include <ucp/api/ucp.h>

#include "tools/perf/core/test_params.hpp"
#include "tools/perf/net/control.hpp"

namespace tools::perf {

// Progresses a worker until a condition holds. One thread. After a while without events it yields
// the processor, which matters only with more threads than processors, or sleeps if the test
// requests it; it also checks whether the test was stopped.
class progress_loop final : public idle_work, sleeper {
public:
    progress_loop(ucp_worker_h worker, stop_flag& stop, wait_mode waiting = wait_mode::poll)
        : worker_(worker), stop_(stop), sleeps_(waiting == wait_mode::sleep) {
        if (sleeps_) stop_.add(*this);
    }
    ~progress_loop() {
        if (sleeps_) stop_.remove(*this);
    }
    progress_loop(const progress_loop&) = delete;
    progress_loop& operator=(const progress_loop&) = delete;

    template<class Done>
    void until(Done&& done) {
        while (!done()) {
            if (sleeps_) {
                sleep();
            } else {
                once();
            }
        }
    }

    // Waits for the request that a call of the library returned, and frees it. Returns its status.
    ucs_status_t finish(ucs_status_ptr_t request) {
        if (!UCS_PTR_IS_PTR(request)) return UCS_PTR_STATUS(request);
        until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
        const ucs_status_t status = ucp_request_check_status(request);
        ucp_request_free(request);
        return status;
    }

    // Never sleeps, for conditions that depend on another thread or a socket.
    void once() {
        if (ucp_worker_progress(worker_) != 0) {
            idle_ = 0;
        } else if (++idle_ >= idle_limit) [[unlikely]] {
            pause();
        }
    }

    // Progresses while the control connection waits.
    void operator()() override { once(); }

private:
    static constexpr std::uint32_t idle_limit = 4096;

    void pause();
    void sleep();
    void wake() noexcept override;

    ucp_worker_h worker_;
    stop_flag& stop_;
    const bool sleeps_;
    std::uint32_t idle_ = 0;
};

}  // namespace tools::perf
