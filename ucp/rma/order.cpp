#include "ucp/rma/order.hpp"

#include <new>

#include "ucp/core/worker.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/rma.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp {

namespace {

remote_tracker* tracker_of(const ep& endpoint) noexcept {
    return slot_of<access_order>(endpoint).tracker.get();
}

bool has_remote_before(const ep& endpoint, std::uint64_t sequence) noexcept {
    for (const request& each : endpoint.operations().sends()) {
        if (each.sequence >= sequence) return false;
        if (is_remote(each.state.send.kind)) return true;
    }
    return false;
}

// The messages to be confirmed were sent before, and the peer handles them in order. Only one
// request is outstanding at a time: the next one covers all messages sent meanwhile.
void request_confirmation(ep& endpoint) {
    remote_tracker& tracker = *tracker_of(endpoint);
    if (tracker.requested == tracker.posted || tracker.requested != tracker.confirmed) return;
    tracker.requested = tracker.posted;
    const wire::confirm_header header{endpoint.remote_id(), tracker.requested};
    endpoint.remote().control().send(wire::rma_confirm, std::as_bytes(std::span(&header, 1)));
}

void resume_held(remote_tracker& tracker) {
    while (!tracker.held.empty() && tracker.unanswered < wire::most_unanswered) {
        request& next = request::of(tracker.held.front());
        release_hold(next);
        defer_callbacks(next);
        run_send(next);
        allow_callbacks(next);
        if (next.pending.pending_hook.is_linked()) return;  // the lane is full
    }
}

}  // namespace

// An endpoint that is used only for loads and stores connects all the same, because only a
// connected endpoint learns that its peer is gone.
bool open_directly(ep& endpoint) {
    if (endpoint.failure() == UCS_OK && wireup::state_of(endpoint) == wireup::state::idle)
        wireup::handle(endpoint, wireup::event::use);
    // requests a confirmation, so that a caller that must not wait can try again
    if (endpoint.operations().has_fences) pass_fences(endpoint);
    if (endpoint.failure() != UCS_OK || endpoint.operations().has_fences) return false;
    endpoint.operations().is_direct = true;
    return true;
}

bool is_behind_fence(const request& operation) noexcept {
    return operation.via->operations().has_fences && is_remote(operation.state.send.kind) &&
           operation.sequence >= tracker_of(*operation.via)->fences.front();
}

void submit_remote(ep& endpoint, request& operation) {
    endpoint.operations().add_send(operation);
    const bool direct = operation.as<remote_op>().window != nullptr;
    if (endpoint.failure() == UCS_OK && !direct && tracker_of(endpoint) == nullptr) {
        slot_of<access_order>(endpoint).tracker.reset(new (std::nothrow) remote_tracker);
        if (tracker_of(endpoint) == nullptr) {
            finish_send(operation, UCS_ERR_NO_MEMORY);
            return;
        }
    }
    if (endpoint.failure() != UCS_OK) {
        finish_send(operation, endpoint.failure());
        return;
    }
    const bool fenced = is_behind_fence(operation);
    const bool is_starting = endpoint.operations().is_starting;
    if (!fenced && !is_starting && (direct || endpoint.is_connected())) {
        start_rma(operation);
        return;
    }
    // not started, see start_waiting
    operation.state.send.proto = &rma_waiting;
    operation.pending.progress = nullptr;
    if (is_starting) return;
    if (fenced) pass_fences(endpoint);  // requests a confirmation from the peer
    if (!endpoint.is_connected()) wireup::handle(endpoint, wireup::event::use);
}

void note_posted(ep& endpoint) noexcept {
    ++tracker_of(endpoint)->posted;
}

void note_copied(ep& endpoint) noexcept {
    tracker_of(endpoint)->copied = true;
}

void note_lane_flushed(ep& endpoint) noexcept {
    --tracker_of(endpoint)->flushing;
}

// Without a tracker, all operations were loads and stores, which fail in their call or not at all.
void note_lost(ep& endpoint, ucs_status_t status) noexcept {
    remote_tracker* const tracker = tracker_of(endpoint);
    if (tracker != nullptr && tracker->outcome == UCS_OK) tracker->outcome = status;
}

bool can_request(request& operation) noexcept {
    remote_tracker& tracker = *tracker_of(*operation.via);
    if (tracker.unanswered < wire::most_unanswered) return true;
    tracker.held.push_back(operation.pending);
    operation.state.send.blocked = true;
    return false;
}

void note_requested(ep& endpoint) noexcept {
    ++tracker_of(endpoint)->unanswered;
}

void release_hold(request& operation) noexcept {
    if (!std::exchange(operation.state.send.blocked, false)) return;
    auto& held = tracker_of(*operation.via)->held;
    held.erase(held.iterator_to(operation.pending));
}

void end_answered(request& operation, ucs_status_t status) {
    --tracker_of(*operation.via)->unanswered;
    end_unrequested(operation, status);
}

void end_unrequested(request& operation, ucs_status_t status) {
    remote_tracker& tracker = *tracker_of(*operation.via);
    finish_send(operation, status);
    if (!std::exchange(tracker.resuming, true)) {
        resume_held(tracker);
        tracker.resuming = false;
    }
}

bool confirm(ep& endpoint, std::uint64_t count, ucs_status_t status) {
    if (endpoint.failure() != UCS_OK) return true;  // replies to earlier requests are ignored
    remote_tracker* const tracker = tracker_of(endpoint);
    if (tracker == nullptr || count <= tracker->confirmed || count > tracker->requested) {
        return false;
    }
    tracker->confirmed = count;
    if (tracker->outcome == UCS_OK) tracker->outcome = status;
    endpoint.operations().check_flushes();
    return true;
}

bool await_copied(ep& endpoint) noexcept {
    remote_tracker* const tracker = tracker_of(endpoint);
    if (tracker == nullptr || !tracker->copied || endpoint.failure() != UCS_OK) return true;
    request* const waiting = endpoint.owner().requests().get();
    if (waiting == nullptr) return false;
    tracker->copied = false;
    ++tracker->flushing;
    waiting->flags.assign(request_flags::internal);
    waiting->status = UCS_INPROGRESS;
    waiting->owner = &endpoint.owner();
    waiting->start_send<remote_op>().kind = send_kind::put;
    endpoint.operations().add_send(*waiting);
    start_with(*waiting, rma_lane_flush);
    return true;
}

bool is_confirmed(ep& endpoint, flush_state& flush) {
    remote_tracker* const tracker = tracker_of(endpoint);
    if (tracker == nullptr) return true;
    if ((tracker->copied || tracker->flushing > 0) && !flush.awaited) {
        // An operation before the flush was waiting, for room or behind a fence, when the flush
        // began.
        flush.awaited = true;
        if (await_copied(endpoint)) {
            flush.until = endpoint.operations().sequence();
            return !has_remote_before(endpoint, flush.until) && is_confirmed(endpoint, flush);
        }
        note_lost(endpoint, UCS_ERR_NO_MEMORY);
    }
    if (!flush.marked) {
        flush.marked = true;
        flush.posted = tracker->posted;
    }
    if (tracker->confirmed >= flush.posted) return true;
    request_confirmation(endpoint);
    return false;
}

ucs_status_t take_outcome(ep& endpoint) noexcept {
    remote_tracker* const tracker = tracker_of(endpoint);
    return tracker == nullptr ? UCS_OK : std::exchange(tracker->outcome, UCS_OK);
}

bool fence(ep& endpoint) {
    remote_tracker* const tracker = tracker_of(endpoint);
    if (tracker == nullptr || endpoint.failure() != UCS_OK) return true;
    if (!await_copied(endpoint)) return false;
    const std::uint64_t next = endpoint.operations().sequence();
    if (tracker->all_confirmed() && !has_remote_before(endpoint, next)) return true;
    const bool is_new = tracker->fences.empty() || tracker->fences.back() != next;
    if (is_new && !ucs::allocated([&] { tracker->fences.push_back(next); })) return false;
    endpoint.operations().is_direct = false;
    endpoint.operations().has_fences = true;
    return true;
}

// Operations that are sent to the peer as messages would be in order anyway, but an operation
// behind the fence may use another method.
void pass_fences(ep& endpoint) {
    running_operations& running = endpoint.operations();
    if (running.is_starting || !endpoint.is_connected()) return;
    while (running.has_fences) {
        remote_tracker& tracker = *tracker_of(endpoint);
        if (has_remote_before(endpoint, tracker.fences.front())) return;
        // An operation before the fence may have waited for room when the fence was set.
        const bool copied = tracker.copied;
        if (!await_copied(endpoint)) {
            note_lost(endpoint, UCS_ERR_NO_MEMORY);
        } else if (copied) {
            continue;  // an operation that ended at once may have passed this fence
        }
        if (tracker.flushing > 0) return;
        if (!tracker.all_confirmed()) {
            request_confirmation(endpoint);
            return;
        }
        tracker.fences.erase(tracker.fences.begin());
        running.has_fences = !tracker.fences.empty();
        start_waiting(endpoint);
    }
}

void forget_remote(ep& endpoint) noexcept {
    access_order& order = slot_of<access_order>(endpoint);
    endpoint.operations().is_direct = endpoint.operations().has_fences = false;
    if (order.tracker == nullptr) return;
    order.tracker->fences.clear();
    order.tracker->copied = false;
    order.tracker->flushing = 0;
    order.tracker->unanswered = 0;
    order.tracker->confirmed = order.tracker->requested = order.tracker->posted;
}

}  // namespace ucp
