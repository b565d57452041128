#include "ucp/proto/deferred_sends.hpp"

#include <cstring>

#include "ucp/core/complete.hpp"
#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/proto/short_path.hpp"
#include "ucp/proto/wire.hpp"

namespace ucp {

deferred_sends::deferred_sends(peer& of_peer) noexcept
    : peer_(of_peer), limit_(of_peer.owner().owner().options().unexpected_announcements) {}

bool deferred_sends::count_rts(request& send) noexcept {
    if (limit_.is_reached()) return false;
    limit_.add();
    send.state.send.rts_counted = true;
    return true;
}

void deferred_sends::defer(request& send) noexcept {
    peer_.owner().log().count(activity::deferred_sends);
    send.state.send.blocked = true;
    const bool first = waiting_.empty();
    waiting_.push_back(send.pending);
    if (!first) return;
    ucs::log::debug(proto_log,
                    "worker {:x} posts no receives for the RTS messages sent to it: tagged sends "
                    "wait until it does",
                    peer_.uid());
    // No tagged send may overtake the deferred ones by the short path.
    update_short_paths(peer_);
}

void deferred_sends::undefer(request& send) noexcept {
    if (!std::exchange(send.state.send.blocked, false)) return;
    waiting_.erase(waiting_.iterator_to(send.pending));
    if (waiting_.empty()) peer_.owner().postponed().resume_later(peer_);
}

bool deferred_sends::on_rts_answered(request& send) noexcept {
    if (!std::exchange(send.state.send.rts_counted, false)) return false;
    limit_.remove();
    return !waiting_.empty();
}

// A caller that aborts a send may be about to abort the deferred ones as well, so they continue
// later.
void deferred_sends::rts_lost(request& send) noexcept {
    if (on_rts_answered(send)) peer_.owner().postponed().resume_later(peer_);
}

void deferred_sends::on_more_allowed(std::uint64_t round) {
    if (limit_.raise(round) && !waiting_.empty()) resume();
}

void deferred_sends::resume() {
    if (peer_.dead()) return;
    while (!waiting_.empty() && !limit_.is_reached()) {
        request& next = request::of(waiting_.front());
        waiting_.pop_front();
        next.state.send.blocked = false;
        defer_callbacks(next);
        begin_send(next);
        allow_callbacks(next);
    }
    if (!waiting_.empty()) return;
    update_short_paths(peer_);
}

void deferred_sends::on_peer_defers(std::uint64_t its_ep, std::uint32_t round) noexcept {
    // The peer has been asked already, and may not have received it yet.
    if (its_ep == deferring_ep_ && round == deferring_round_) return;
    deferring_ep_ = its_ep;
    deferring_round_ = round;
    if (!peer_.deferring_hook.is_linked()) publish(events::sends_deferred{peer_});
}

// Needs no memory: a request that waits for room is filled in with the newest values when it
// leaves.
void deferred_sends::request_more() noexcept {
    if (!peer_.lanes().is_open() || peer_.dead() || more_request_.pending_hook.is_linked()) return;
    peer_.owner().log().count(activity::asked_for_more);
    if (progress_request(more_request_) == UCS_ERR_NO_RESOURCE)
        peer_.lanes().am().pending_add(more_request_);
}

ucs_status_t deferred_sends::progress_request(uct::pending_request& queued) noexcept {
    const deferred_sends& self =
        *boost::intrusive::get_parent_from_member(&queued, &deferred_sends::more_request_);
    const auto pack = [](void* arg, void* into, std::size_t) -> std::size_t {
        const auto& from = *static_cast<const deferred_sends*>(arg);
        const wire::more_header header{from.deferring_ep_, from.deferring_round_};
        std::memcpy(into, &header, sizeof header);
        return sizeof header;
    };
    const ssize_t sent =
        self.peer_.lanes().am().am_bcopy(wire::rndv_more, pack, const_cast<deferred_sends*>(&self));
    // The transport reports the loss of the lane to the endpoints.
    return sent == UCS_ERR_NO_RESOURCE ? UCS_ERR_NO_RESOURCE : UCS_OK;
}

std::size_t deferred_count(const peer_table& peers) noexcept {
    std::size_t count = 0;
    peers.for_each([&count](const peer& each) { count += slot_of<deferred_sends>(each).size(); });
    return count;
}

}  // namespace ucp
