// Completion of operations: status, callback, return to the pool.
#pragma once

#include "ucp/core/operation.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

// The callback of a request that ends, with copies of its arguments: the request may be gone when
// it runs.
class completion_callback {
public:
    explicit completion_callback(request& done) noexcept
        : callback_(done.callback),
          handle_(done.handle()),
          user_data_(done.user_data),
          status_(done.status),
          kind_(done.flags.has(request_flags::has_callback) ? done.kind : request_kind::none) {
        if (kind_ == request_kind::recv || kind_ == request_kind::recv_data) {
            info_ = done.state.recv.info;
        } else if (kind_ == request_kind::recv_stream) {
            info_.length = done.state.stream.received;
        }
    }
    void run() const {
        if (kind_ == request_kind::none) return;
        if (kind_ == request_kind::recv) {
            callback_.recv(handle_, status_, &info_, user_data_);
        } else if (kind_ == request_kind::recv_data || kind_ == request_kind::recv_stream) {
            callback_.recv_data(handle_, status_, info_.length, user_data_);
        } else {
            callback_.send(handle_, status_, user_data_);
        }
    }

private:
    request::any_callback callback_;
    void* handle_;
    void* user_data_;
    ucp_tag_recv_info_t info_{};
    ucs_status_t status_;
    request_kind kind_;
};

// Completes a request. Within the call that started it only the status is stored, see end_call. The
// request may be gone afterwards.
inline void complete(request& done, ucs_status_t status) {
    constexpr unsigned unusual = request_flags::starting | request_flags::released |
                                 request_flags::internal | request_flags::has_callback;
    done.status = status;
    const unsigned flags = done.flags.all();
    if ((flags & unusual) == 0) {
        done.flags.assign(flags | request_flags::completed);
        return;
    }
    if ((flags & request_flags::starting) != 0) {
        done.flags.set(request_flags::ended);
        return;
    }
    if ((flags & (request_flags::released | request_flags::internal)) != 0) {
        completion_callback(done).run();
        done.owner->requests().put(done);
        return;
    }
    // The callback sees a completed request and may free it, reuse it or release its memory, and so
    // may a waiting thread: the request is not touched after this line.
    const completion_callback callback(done);
    done.flags.set(request_flags::completed);
    callback.run();
}

// Enclose work that may end a request at a moment when no callback may run: defer_callbacks, the
// work, allow_callbacks. If the request ended meanwhile, the program's callback runs at the end of
// the current progress.
inline void defer_callbacks(request& busy) noexcept {
    busy.flags.set(request_flags::starting);
}
inline void allow_callbacks(request& busy) {
    busy.flags.clear(request_flags::starting);
    if (!busy.flags.has(request_flags::ended)) return;
    ep* via = busy.via;
    busy.owner->postponed().complete_later(busy);
    if (via != nullptr) via->operations().check_flushes();  // flushes complete after this request
}

// Returns the request for an operation that starts now: the program's memory or one from the pool.
// nullptr: there is no memory.
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

// Returns the result of the starting call: the handle if the operation continues, otherwise nullptr
// or the error, with the request given back. With NO_IMM_CMPL the callback runs here and the handle
// is returned.
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
        started.flags.set(request_flags::completed);  // the program can still query it
    } else {
        started.owner->requests().put(started);
    }
    return UCS_STATUS_PTR(status);
}

// Gives back a request whose operation did not start.
inline ucs_status_ptr_t abandon_call(request& unused, ucs_status_t why) {
    if (unused.flags.has(request_flags::user_memory)) {
        // Programs may look here instead of at the result.
        unused.status = why;
        unused.flags.assign(request_flags::user_memory | request_flags::completed);
    } else {
        unused.owner->requests().put(unused);
    }
    return UCS_STATUS_PTR(why);
}

inline void set_send_callback(request& started, const operation& params) noexcept {
    started.callback.send = params.send_callback();
    if (started.callback.send != nullptr) started.flags.set(request_flags::has_callback);
}

}  // namespace ucp
