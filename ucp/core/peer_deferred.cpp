// Limit on RTS messages ahead of receives. Sender side: tagged sends beyond the limit are deferred.
// Receiver side: it requests more RTS messages from senders whose messages it waits for.
#include <cstring>

#include "ucp/core/complete.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp {

bool peer::count_rts(request& send) noexcept {
    if (rts_limit_.is_reached()) return false;
    rts_limit_.add();
    send.state.send.rts_counted = true;
    return true;
}

void peer::defer(request& send) noexcept {
    owner_.count(activity::deferred_sends);
    send.state.send.blocked = true;
    const bool first = deferred_.empty();
    deferred_.push_back(send.pending);
    if (!first) return;
    ucs::log::debug(proto_log,
                    "worker {:x} posts no receives for the RTS messages sent to it: tagged sends "
                    "wait until it does",
                    uid_);
    // No tagged send may overtake the deferred ones by the short path.
    for (ep& each : endpoints_)
        each.credits_changed();
}

void peer::undefer(request& send) noexcept {
    if (!std::exchange(send.state.send.blocked, false)) return;
    deferred_.erase(deferred_.iterator_to(send.pending));
    if (deferred_.empty()) owner_.resume_later(*this);
}

bool peer::on_rts_answered(request& send) noexcept {
    if (!std::exchange(send.state.send.rts_counted, false)) return false;
    rts_limit_.remove();
    return !deferred_.empty();
}

// A caller that aborts a send may be about to abort the deferred ones as well, so they continue
// later.
void peer::rts_lost(request& send) noexcept {
    if (on_rts_answered(send)) owner_.resume_later(*this);
}

void peer::on_more_rts_allowed(std::uint64_t round) {
    if (rts_limit_.raise(round) && !deferred_.empty()) send_deferred();
}

void peer::send_deferred() {
    if (dead_) return;
    while (!deferred_.empty() && !rts_limit_.is_reached()) {
        request& next = request::of(deferred_.front());
        deferred_.pop_front();
        next.state.send.blocked = false;
        defer_callbacks(next);
        begin_send(next);
        allow_callbacks(next);
    }
    if (!deferred_.empty()) return;
    for (ep& each : endpoints_)
        each.credits_changed();
}

void peer::resume() {
    for (auto next = striped_.begin(); next != striped_.end();)
        (next++)->resume();
    send_deferred();
    connect_handed_over();
}

void peer::on_sends_deferred(std::uint64_t its_ep, std::uint32_t round) noexcept {
    // The peer has been asked already, and may not have received it yet.
    if (its_ep == deferring_ep_ && round == deferring_round_) return;
    deferring_ep_ = its_ep;
    deferring_round_ = round;
    if (!deferring_hook.is_linked()) owner_.matcher().memory().add_deferring(*this);
}

// Needs no memory: a request that waits for room is filled in with the newest values when it
// leaves.
void peer::request_more_rts() noexcept {
    if (am_.endpoint == nullptr || dead_ || more_rts_request_.pending_hook.is_linked()) return;
    owner_.count(activity::asked_for_more);
    if (progress_more_rts_request(more_rts_request_) == UCS_ERR_NO_RESOURCE)
        am_.endpoint->pending_add(more_rts_request_);
}

ucs_status_t peer::progress_more_rts_request(uct::pending_request& queued) noexcept {
    const peer& self = *boost::intrusive::get_parent_from_member(&queued, &peer::more_rts_request_);
    const auto pack = [](void* arg, void* into, std::size_t) -> std::size_t {
        const auto& from = *static_cast<const peer*>(arg);
        const wire::more_header header{from.deferring_ep_, from.deferring_round_};
        std::memcpy(into, &header, sizeof header);
        return sizeof header;
    };
    const ssize_t sent =
        self.am_.endpoint->am_bcopy(wire::rndv_more, pack, const_cast<peer*>(&self));
    // The transport reports the loss of the lane to the endpoints.
    return sent == UCS_ERR_NO_RESOURCE ? UCS_ERR_NO_RESOURCE : UCS_OK;
}

}  // namespace ucp
