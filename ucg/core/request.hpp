// Base of the operations that a program can start again and again.
#pragma once

#include <ucg/api/ucg.h>

#include <vector>

#include "ucg/core/signature.hpp"
#include "ucg/schedule/step.hpp"
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
    // Returns the ranks that have not started the operation, as far as this rank knows, or
    // otherwise those that it waits for. After a timeout: those ranks at the time of the timeout.
    [[nodiscard]] std::vector<schedule::rank_t> missing() const;

    [[nodiscard]] virtual ucs_status_t set_buffers(const void* from, void* into) noexcept;
    [[nodiscard]] virtual const char* name() const noexcept = 0;       // of the operation
    [[nodiscard]] virtual const char* algorithm() const noexcept = 0;  // that serves it
    [[nodiscard]] virtual const char* reason() const noexcept = 0;     // why that one
    // Returns the signature that is compared with those of the other ranks (comparison.hpp).
    [[nodiscard]] virtual signature get_signature() const noexcept = 0;
    [[nodiscard]] virtual shares get_shares() const { return {}; }  // std::bad_alloc
    // Returns whether only the node's engine must make progress for it.
    [[nodiscard]] virtual bool uses_engine() const noexcept { return false; }

    // For the group: expire() when the time is up; run() when the arguments agree on all ranks;
    // end() without run() if they do not.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept { return deadline_; }
    [[nodiscard]] ucs::time::nanoseconds timeout() const noexcept { return timeout_; }
    void expire() noexcept;
    void run() noexcept;
    // The operation does not run on this rank, but may run on other ranks, where it then fails.
    void skip(ucs_status_t why) noexcept;
    void end(ucs_status_t status) noexcept;

    // Hooks for lists of the group, so that starting a request needs no memory for them.
    ucs::datastruct::auto_unlink_hook timed_hook;  // requests with a time limit
    ucs::datastruct::list_hook compared_hook;      // requests in the comparison (agreement.hpp)
    ucs_status_t stopped = UCS_OK;  // in the comparison: the error with which it is to end

protected:
    // `timeout` in seconds; 0: the default of the options.
    request(group& group, double timeout, const listener& callback) noexcept;

private:
    // Called while it is not running. If it returns an error, start() returns that and does
    // nothing.
    [[nodiscard]] virtual ucs_status_t may_start() noexcept { return UCS_OK; }
    virtual void begin() noexcept = 0;  // leads to end()
    virtual void abort(ucs_status_t why) noexcept = 0;
    virtual void begin_failed(ucs_status_t why) noexcept = 0;  // in place of begin()
    [[nodiscard]] virtual std::vector<schedule::rank_t> awaited() const = 0;
    [[nodiscard]] std::vector<schedule::rank_t> missing_now() const;

    group& group_;
    const listener callback_;
    ucs_status_t status_ = UCS_OK;
    bool comparing_ = false;              // not begun yet: its arguments are being compared
    ucs::time::nanoseconds timeout_ = 0;  // 0: none
    ucs::time::nanoseconds deadline_ = 0;
    std::vector<schedule::rank_t> missed_;
};

}  // namespace ucg
