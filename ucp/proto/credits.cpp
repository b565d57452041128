#include "ucp/proto/credits.hpp"

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/short_path.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

eager_credits::eager_credits(peer& of_peer) noexcept
    : peer_(of_peer), window_(of_peer.owner().owner().options().unexpected_window.bytes) {}

void eager_credits::on_window_spent(ep& sender) {
    if (window_.next_step() == eager_window::step::request_credits) {
        request(sender);
    } else {
        on_change();
    }
}

void eager_credits::on_granted(const ep& over) noexcept {
    // A grant for a request that was repeated over another endpoint must not count as the grant of
    // a later request.
    if (requested_over_ != &over) return;
    requested_over_ = nullptr;
    if (window_.on_granted()) on_change();
}

void eager_credits::begin_without() noexcept {
    if (window_.begin_without_credits()) on_change();
}

void eager_credits::request(ep& ready) {
    if (!window_.is_requested() || requested_over_ != nullptr) return;
    requested_over_ = &ready;
    publish(events::credits_requested{ready});
}

// If there is no other working endpoint, the next one that becomes ready requests the credits.
void eager_credits::request_again(const ep& ending) {
    if (requested_over_ != &ending) return;
    requested_over_ = nullptr;
    for (ep& each : peer_.endpoints()) {
        const wireup::state current = wireup::state_of(each);
        const bool works = each.failure() == UCS_OK && (current == wireup::state::ready ||
                                                        current == wireup::state::peer_closed);
        if (!works || &each == &ending) continue;
        request(each);
        return;
    }
}

void eager_credits::on_change() noexcept {
    if (window_.uses_rendezvous()) {
        ucs::log::debug(
            proto_log,
            "worker {:x} posts no receives for the messages sent to it: messages begin with "
            "a request to send until it does",
            peer_.uid());
        peer_.owner().log().count(activity::held_senders);
    }
    update_short_paths(peer_);
}

}  // namespace ucp
