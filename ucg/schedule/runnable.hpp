// Base class of the operations that a request runs: one rank's part in a collective or program.
#pragma once

#include <vector>

#include "ucg/schedule/call.hpp"
#include "ucs/type/status.h"

namespace ucg::schedule {

// Can be started any number of times. The owner must not destroy it while it runs, unless its
// fabric or engine is gone. Owner context.
class runnable {
public:
    // Called when it has ended. It may start it again or destroy it.
    using listener = void (*)(runnable& ended, void* argument);

    runnable() = default;
    runnable(const runnable&) = delete;
    runnable& operator=(const runnable&) = delete;
    virtual ~runnable() = default;

    // All ranks must start the same ones in the same order.
    virtual void start() noexcept = 0;
    // Replaces start() if the arguments are invalid: ends with an error on every rank.
    virtual void start_failed(ucs_status_t status) noexcept = 0;
    // Ends it with an error on every rank. Does nothing if it does not run.
    virtual void fail(ucs_status_t status) noexcept = 0;

    // Returns UCS_INPROGRESS while it runs, otherwise the result of the last start: UCS_OK, or the
    // first error. After an error the content of the output is undefined.
    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }
    // Returns the ranks that have not started it, as far as this rank knows. If this rank knows of
    // none, returns those from which it waits for a message. For the report after a timeout. Throws
    // std::bad_alloc.
    [[nodiscard]] virtual std::vector<rank_t> missing() const = 0;
    // The arguments; buffers may be replaced between two starts.
    [[nodiscard]] call& arguments() noexcept { return call_; }
    void on_end(listener callback, void* argument) noexcept {
        listener_ = callback;
        listener_argument_ = argument;
    }

protected:
    void end(ucs_status_t status) noexcept {
        status_ = status;
        if (listener_ != nullptr) listener_(*this, listener_argument_);
    }

    ucs_status_t status_ = UCS_OK;
    call call_;

private:
    listener listener_ = nullptr;
    void* listener_argument_ = nullptr;
};

}  // namespace ucg::schedule
