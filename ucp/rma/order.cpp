// Order and completion of operations on a peer's memory: members of ucp::ep. See
// docs/remote-memory.md.
#include <new>

#include "ucp/core/worker.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/protocols.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/rma.hpp"
#include "ucp/rma/tracker.hpp"
#include "ucp/rma/wire.hpp"

namespace ucp {

using wireup::event;
using wireup::state;

// An endpoint that is used only for loads and stores connects all the same, because only a
// connected endpoint learns that its peer is gone.
bool ep::open_directly() {
    if (failure_ == UCS_OK && state_ == state::idle) handle(event::use);
    // requests a confirmation, so that a caller that must not wait can try again
    if (is_fenced()) pass_fences();
    if (failure_ != UCS_OK || is_fenced()) return false;
    direct_ = true;
    return true;
}

bool ep::is_fenced() const noexcept {
    return tracker_ != nullptr && !tracker_->fences.empty();
}

bool ep::is_behind_fence(const request& operation) const noexcept {
    return is_fenced() && is_remote(operation.state.send.kind) &&
           operation.sequence >= tracker_->fences.front();
}

void ep::submit_remote(request& operation) {
    add_send(operation);
    const bool direct = operation.as<remote_op>().window != nullptr;
    if (failure_ == UCS_OK && !direct && tracker_ == nullptr) {
        tracker_.reset(new (std::nothrow) remote_tracker);
        if (tracker_ == nullptr) {
            finish_send(operation, UCS_ERR_NO_MEMORY);
            return;
        }
    }
    if (failure_ != UCS_OK) {
        finish_send(operation, failure_);
        return;
    }
    const bool fenced = is_behind_fence(operation);
    if (!fenced && !draining_ && (direct || lane_ != nullptr)) {
        start_rma(operation);
        return;
    }
    operation.pending.progress = nullptr;  // not started, see run_waiting
    if (draining_) return;
    if (fenced) pass_fences();  // requests a confirmation from the peer
    if (lane_ == nullptr) handle(event::use);
}

void ep::note_posted() noexcept {
    ++tracker_->posted;
}

// Without a tracker, all operations were loads and stores, which fail in their call or not at all.
void ep::note_lost(ucs_status_t status) noexcept {
    if (tracker_ != nullptr && tracker_->outcome == UCS_OK) tracker_->outcome = status;
}

bool ep::all_confirmed() const noexcept {
    return tracker_ == nullptr || tracker_->all_confirmed();
}

bool ep::can_request(request& operation) noexcept {
    if (tracker_->unanswered < wire::most_unanswered) return true;
    tracker_->held.push_back(operation.pending);
    operation.state.send.blocked = true;
    return false;
}

void ep::release_hold(request& operation) noexcept {
    if (!std::exchange(operation.state.send.blocked, false)) return;
    tracker_->held.erase(tracker_->held.iterator_to(operation.pending));
}

void ep::end_answered(request& operation, ucs_status_t status) {
    --tracker_->unanswered;
    end_unrequested(operation, status);
}

void ep::end_unrequested(request& operation, ucs_status_t status) {
    finish_send(operation, status);
    if (!std::exchange(tracker_->resuming, true)) {
        resume_held();
        tracker_->resuming = false;
    }
}

void ep::resume_held() {
    while (!tracker_->held.empty() && tracker_->unanswered < wire::most_unanswered) {
        request& next = request::of(tracker_->held.front());
        release_hold(next);
        defer_callbacks(next);
        run_send(next);
        allow_callbacks(next);
        if (next.pending.pending_hook.is_linked()) return;  // the lane is full
    }
}

bool ep::add_pending_reply() noexcept {
    constexpr unsigned most = wire::most_unanswered + 1;  // and one confirmation
    if (pending_replies_ == most) return false;
    ++pending_replies_;
    return true;
}

// The messages to be confirmed were sent before, and the peer handles them in order. Only one
// request is outstanding at a time: the next one covers all messages sent meanwhile.
void ep::request_confirmation() {
    if (tracker_->requested == tracker_->posted || tracker_->requested != tracker_->confirmed)
        return;
    tracker_->requested = tracker_->posted;
    const wire::confirm_header header{remote_id_, tracker_->requested};
    remote_->control().send(wire::rma_confirm, std::as_bytes(std::span(&header, 1)));
}

bool ep::confirm(std::uint64_t count, ucs_status_t status) {
    if (failure_ != UCS_OK) return true;  // replies to earlier requests are ignored
    if (tracker_ == nullptr || count <= tracker_->confirmed || count > tracker_->requested) {
        return false;
    }
    tracker_->confirmed = count;
    if (tracker_->outcome == UCS_OK) tracker_->outcome = status;
    check_flushes();
    return true;
}

// Adds an operation that ends when the copied data has arrived, so that callers waiting for all
// operations also wait for that data. Returns false if there is no memory.
bool ep::await_copied() noexcept {
    if (tracker_ == nullptr || !tracker_->copied || failure_ != UCS_OK) return true;
    request* const waiting = owner_.requests().get();
    if (waiting == nullptr) return false;
    tracker_->copied = false;
    ++tracker_->flushing;
    waiting->flags.assign(request_flags::internal);
    waiting->status = UCS_INPROGRESS;
    waiting->owner = &owner_;
    waiting->start_send<remote_op>().kind = send_kind::put;
    add_send(*waiting);
    start_with(*waiting, rma_lane_flush);
    return true;
}

// Once everything before the flush has left, requests a confirmation from the peer.
bool ep::is_confirmed(flush_state& flush) {
    if (tracker_ == nullptr) return true;
    if ((tracker_->copied || tracker_->flushing > 0) && !flush.awaited) {
        // An operation before the flush was waiting, for room or behind a fence, when the flush
        // began.
        flush.awaited = true;
        if (await_copied()) {
            flush.until = sequence_;
            return !has_remote_before(sequence_) && is_confirmed(flush);
        }
        note_lost(UCS_ERR_NO_MEMORY);
    }
    if (!flush.marked) {
        flush.marked = true;
        flush.posted = tracker_->posted;
    }
    if (tracker_->confirmed >= flush.posted) return true;
    request_confirmation();
    return false;
}

// Closing succeeds in any case.
ucs_status_t ep::outcome_for(const flush_state& flush) noexcept {
    if (tracker_ == nullptr || flush.close_after) return UCS_OK;
    return std::exchange(tracker_->outcome, UCS_OK);
}

bool ep::has_unflushed() const noexcept {
    if (failure_ != UCS_OK) return false;
    return !sends_.empty() || awaits_connection(false) || !all_confirmed() ||
           (tracker_ != nullptr && (tracker_->copied || tracker_->outcome != UCS_OK));
}

bool ep::has_remote_before(std::uint64_t sequence) const noexcept {
    for (const request& each : sends_) {
        if (each.sequence >= sequence) return false;
        if (is_remote(each.state.send.kind)) return true;
    }
    return false;
}

bool ep::fence() {
    if (tracker_ == nullptr || failure_ != UCS_OK) return true;
    if (!await_copied()) return false;
    if (tracker_->all_confirmed() && !has_remote_before(sequence_)) return true;
    try {
        if (tracker_->fences.empty() || tracker_->fences.back() != sequence_) {
            tracker_->fences.push_back(sequence_);
        }
    } catch (const std::bad_alloc&) {
        return false;
    }
    direct_ = false;
    fenced_ = true;
    return true;
}

// Operations behind a fence start when those before it are complete, here and at the peer.
// Operations that are sent to the peer as messages would be in order anyway, but an operation
// behind the fence may use another method.
void ep::pass_fences() {
    if (draining_ || lane_ == nullptr) return;
    while (is_fenced()) {
        if (has_remote_before(tracker_->fences.front())) return;
        // An operation before the fence may have waited for room when the fence was set.
        const bool copied = tracker_->copied;
        if (!await_copied()) {
            note_lost(UCS_ERR_NO_MEMORY);
        } else if (copied) {
            continue;  // an operation that ended at once may have passed this fence
        }
        if (tracker_->flushing > 0) return;
        if (!tracker_->all_confirmed()) {
            request_confirmation();
            return;
        }
        tracker_->fences.erase(tracker_->fences.begin());
        fenced_ = is_fenced();
        draining_ = true;
        run_waiting();
        draining_ = false;
    }
}

void ep::forget_remote() noexcept {
    direct_ = fenced_ = false;
    if (tracker_ == nullptr) return;
    tracker_->fences.clear();
    tracker_->copied = false;
    tracker_->flushing = 0;
    tracker_->unanswered = 0;
    tracker_->confirmed = tracker_->requested = tracker_->posted;
}

}  // namespace ucp
