// Ending operations: status, callback, return to the pool.
#pragma once

#include "ucp/core/operation.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

// Runs the callback, if there is one to run. The user may free the request in it.
inline void call_back(request& done) {
    if ((done.flags & request::has_callback) == 0) return;
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
    if ((done.flags & request::starting) == 0) {
        call_back(done);
        done.flags |= request::completed;
        if ((done.flags & (request::released | request::internal)) != 0) {
            done.owner->requests().put(done);
        }
        return;
    }
    done.flags |= request::completed;
}

// A request for an operation that starts now: the user's memory or one of the pool. nullptr:
// no memory.
inline request* begin_call(worker& owner, const operation& params) noexcept {
    request* fresh;
    if (params.has_user_request()) {
        fresh = &request::of(params.user_request());
        fresh->prepare_hooks();
        fresh->flags = request::user_memory | request::starting;
    } else {
        fresh = owner.requests().get();
        if (fresh == nullptr) return nullptr;
        fresh->flags = request::starting;
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
    started.flags = static_cast<std::uint16_t>(started.flags & ~request::starting);
    if (!started.is_completed()) return started.handle();
    const ucs_status_t status = started.status;
    if (params.no_immediate()) {
        void* handle = started.handle();
        started.flags = static_cast<std::uint16_t>(started.flags & ~request::completed);
        complete(started, status);
        return handle;
    }
    if ((started.flags & request::user_memory) == 0) started.owner->requests().put(started);
    return UCS_STATUS_PTR(status);
}

// Gives back a request whose operation did not start.
inline ucs_status_ptr_t refuse_call(request& unused, ucs_status_t why) {
    if ((unused.flags & request::user_memory) == 0) unused.owner->requests().put(unused);
    return UCS_STATUS_PTR(why);
}

inline void set_send_callback(request& started, const operation& params) noexcept {
    started.callback.send = params.send_callback();
    if (started.callback.send != nullptr) started.flags |= request::has_callback;
}

}  // namespace ucp
