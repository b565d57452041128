// An operation of the program's that can be started again and again.
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

// What all kinds have in common: state, time limit, callback. Owned by the program, or by the group
// for its blocking calls. Owner context.
class request {
public:
    // How it is told when it ended.
    struct listener {
        void (*call)(ucg_request_h request, ucs_status_t status, void* arg) = nullptr;
        void* arg = nullptr;
    };

    request(const request&) = delete;
    request& operator=(const request&) = delete;
    virtual ~request() = default;

    [[nodiscard]] ucs_status_t start() noexcept;
    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }
    // Ends it with an error, on every rank, if it runs.
    void fail(ucs_status_t why) noexcept;
    [[nodiscard]] group& of() const noexcept { return group_; }
    // The ranks that have not begun it, as far as this one can find out, or else those that it
    // waits for; the same when its time was up.
    [[nodiscard]] std::vector<schedule::rank_t> missing() const;

    [[nodiscard]] virtual ucs_status_t set_buffers(const void* from, void* into) noexcept;
    [[nodiscard]] virtual const char* name() const noexcept = 0;       // of the operation
    [[nodiscard]] virtual const char* algorithm() const noexcept = 0;  // that serves it
    [[nodiscard]] virtual const char* reason() const noexcept = 0;     // why that one
    // What is compared with the other ranks (comparison.hpp).
    [[nodiscard]] virtual signature says() const noexcept = 0;
    [[nodiscard]] virtual shares deals() const { return {}; }  // std::bad_alloc
    // Whether nothing but the node's engine has to move.
    [[nodiscard]] virtual bool uses_engine() const noexcept { return false; }

    // For the group: its time is up; its arguments are the same everywhere, or it ends without
    // having begun.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept { return deadline_; }
    [[nodiscard]] ucs::time::nanoseconds timeout() const noexcept { return timeout_; }
    void expire() noexcept;
    void run() noexcept;
    // It does not run here, but may on other ranks, for which it fails.
    void skip(ucs_status_t why) noexcept;
    void end(ucs_status_t status) noexcept;

    // Its places in lists of the group: starting it needs no memory for them.
    ucs::datastruct::auto_unlink_hook timed_hook;  // those whose time is limited
    ucs::datastruct::list_hook compared_hook;      // those that are compared (agreement.hpp)
    ucs_status_t stopped = UCS_OK;                 // there: with what it is to end, not UCS_OK

protected:
    // `timeout` in seconds; 0: as the options say.
    request(group& of, double timeout, const listener& told) noexcept;

private:
    // Asked where it does not run; not UCS_OK: start() returns this and nothing happens.
    [[nodiscard]] virtual ucs_status_t may_start() noexcept { return UCS_OK; }
    virtual void begin() noexcept = 0;  // leads to end()
    virtual void abort(ucs_status_t why) noexcept = 0;
    virtual void begin_failed(ucs_status_t why) noexcept = 0;  // in place of begin()
    [[nodiscard]] virtual std::vector<schedule::rank_t> awaited() const = 0;
    [[nodiscard]] std::vector<schedule::rank_t> missing_now() const;

    group& group_;
    const listener told_;
    ucs_status_t status_ = UCS_OK;
    bool comparing_ = false;              // it has not begun: arguments are being compared
    ucs::time::nanoseconds timeout_ = 0;  // 0: none
    ucs::time::nanoseconds deadline_ = 0;
    std::vector<schedule::rank_t> missed_;
};

}  // namespace ucg
