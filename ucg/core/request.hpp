// Base class of requests: operations of a group that a program prepares once and starts repeatedly.
#pragma once

#include <ucg/api/ucg.h>

#include <vector>

#include "ucg/core/signature.hpp"
#include "ucg/schedule/runnable.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/status.h"

namespace ucg {

class group;

// The common part of all kinds: state, time limit and callback. Owned by the program, or by the
// group for its blocking calls. Owner context.
class request {
public:
    // Called when the request has ended.
    struct listener {
        void (*call)(ucg_request_h request, ucs_status_t status, void* arg) = nullptr;
        void* arg = nullptr;
    };

    request(const request&) = delete;
    request& operator=(const request&) = delete;
    virtual ~request() = default;

    [[nodiscard]] ucs_status_t start() noexcept;
    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }
    // Ends a running request with an error on every rank.
    void fail(ucs_status_t why) noexcept;
    [[nodiscard]] group& get_group() const noexcept { return group_; }
    // Returns the ranks that have not started the operation, as far as this rank knows. If this
    // rank knows of none, returns those from which it waits for a message. After a timeout, returns
    // what it would have returned at the time of the timeout.
    [[nodiscard]] std::vector<schedule::rank_t> missing() const;

    [[nodiscard]] virtual ucs_status_t set_buffers(const void* from, void* into) noexcept;
    [[nodiscard]] virtual const char* name() const noexcept = 0;       // name of the operation
    [[nodiscard]] virtual const char* algorithm() const noexcept = 0;  // name of its algorithm
    [[nodiscard]] virtual const char* reason() const noexcept = 0;     // reason for its choice
    // Returns the signature that is compared with those of the other ranks (comparison.hpp).
    [[nodiscard]] virtual signature get_signature() const noexcept = 0;
    [[nodiscard]] virtual shares get_shares() const { return {}; }  // std::bad_alloc
    // Returns whether the operation runs on the node's engine alone, so that only the engine needs
    // progress.
    [[nodiscard]] virtual bool uses_engine() const noexcept { return false; }

    // For the group. It calls expire() when the time is up. With a comparison of arguments, it
    // calls run() if the arguments of all ranks fit, end() if they do not, and skip() if the
    // comparison failed.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept { return deadline_; }
    [[nodiscard]] ucs::time::nanoseconds timeout() const noexcept { return timeout_; }
    void expire() noexcept;
    void run() noexcept;
    // Ends the request without running it on this rank. Other ranks may have completed the
    // comparison and run the operation, which then fails on them.
    void skip(ucs_status_t why) noexcept;
    void end(ucs_status_t status) noexcept;

    // Hooks for lists of the group, so that starting a request needs no memory for them.
    ucs::datastruct::auto_unlink_hook timed_hook;  // requests with a time limit
    ucs::datastruct::list_hook compared_hook;      // requests in the comparison (agreement.hpp)
    // The error with which the request ends when its turn in the comparison comes; UCS_OK: none.
    ucs_status_t stopped = UCS_OK;

protected:
    // `timeout` is in seconds; 0 means the option UCG_TIMEOUT.
    request(group& group, double timeout, const listener& callback) noexcept;
    // Sets what the request runs, which the derived class owns. Without work (null), the request
    // can only fail.
    void set_work(schedule::runnable* work) noexcept;
    [[nodiscard]] schedule::runnable* work() const noexcept { return work_; }
    void begin_failed(ucs_status_t why) noexcept;

private:
    // Called by start(). If it returns an error, start() returns that error and does nothing else.
    [[nodiscard]] virtual ucs_status_t may_start() noexcept { return UCS_OK; }
    virtual void begin() noexcept { work_->start(); }
    [[nodiscard]] std::vector<schedule::rank_t> missing_now() const;

    group& group_;
    const listener callback_;
    ucs_status_t status_ = UCS_OK;
    bool comparing_ = false;              // started, but its arguments are still being compared
    ucs::time::nanoseconds timeout_ = 0;  // 0: none
    ucs::time::nanoseconds deadline_ = 0;
    schedule::runnable* work_ = nullptr;
    std::vector<schedule::rank_t> missed_;  // missing() at the time of the timeout
};

}  // namespace ucg
