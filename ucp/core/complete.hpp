// Ending operations: status, callback, return to the pool.
#pragma once

#include "ucp/core/operation.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

// Runs the callback, if there is one to run. The user may free the request in it.
inline void call_back(request& done) {
    if (!done.flags.has(request_flags::has_callback)) return;
    if (done.kind == request_kind::recv) {
        done.callback.recv(done.handle(), done.status, &done.state.recv.info, done.user_data);
    } else {
        done.callback.send(done.handle(), done.status, done.user_data);
    }
}

// The operation ended. Inside the call that started it only the status is noted, see end_call.
// The request may be gone afterwards.
inline void complete(request& done, ucs_status_t status) {
    done.status = status;
    if (!done.flags.has(request_flags::starting)) {
        call_back(done);
        if (done.flags.has(request_flags::released | request_flags::internal)) {
            done.owner->requests().put(done);
            return;
        }
        // The last touch: a waiting thread may take its user memory away as soon as it sees this.
        done.flags.set(request_flags::completed);
        return;
    }
    done.flags.set(request_flags::ended);
}

// Brackets work that may end a request at a moment when no user code may run: begin_quiet, the
// work, end_quiet. What ended meanwhile is told to the user at the end of the current progress.
inline void begin_quiet(request& busy) noexcept {
    busy.flags.set(request_flags::starting);
}
inline void end_quiet(request& busy) {
    busy.flags.clear(request_flags::starting);
    if (busy.flags.has(request_flags::ended)) busy.owner->complete_later(busy);
}

// A request for an operation that starts now: the user's memory or one of the pool. nullptr:
// no memory.
inline request* begin_call(worker& owner, const operation& params) noexcept {
    request* fresh;
    if (params.has_user_request()) {
        fresh = &request::of(params.user_request());
        fresh->prepare_hooks();
        fresh->flags.assign(request_flags::user_memory | request_flags::starting);
    } else {
        fresh = owner.requests().get();
        if (fresh == nullptr) return nullptr;
        fresh->flags.assign(request_flags::starting);
    }
    fresh->status = UCS_INPROGRESS;
    fresh->owner = &owner;
    fresh->via = nullptr;
    fresh->user_data = params.user_data();
    return fresh;
}

// What the starting call returns: the handle when it goes on, else nothing (or the error), with
// the request given back. With NO_IMM_CMPL the callback runs here and the handle is returned.
inline ucs_status_ptr_t end_call(request& started, const operation& params) {
    started.flags.clear(request_flags::starting);
    if (!started.flags.has(request_flags::ended)) return started.handle();
    const ucs_status_t status = started.status;
    if (params.no_immediate()) {
        void* handle = started.handle();
        complete(started, status);
        return handle;
    }
    if (started.flags.has(request_flags::user_memory)) {
        started.flags.set(request_flags::completed);  // it can still be asked
    } else {
        started.owner->requests().put(started);
    }
    return UCS_STATUS_PTR(status);
}

// Gives back a request whose operation did not start.
inline ucs_status_ptr_t refuse_call(request& unused, ucs_status_t why) {
    if (!unused.flags.has(request_flags::user_memory)) unused.owner->requests().put(unused);
    return UCS_STATUS_PTR(why);
}

inline void set_send_callback(request& started, const operation& params) noexcept {
    started.callback.send = params.send_callback();
    if (started.callback.send != nullptr) started.flags.set(request_flags::has_callback);
}

}  // namespace ucp
