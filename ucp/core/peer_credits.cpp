// Eager window, sender side: bounds the memory that eager messages take at the receiver. The
// receiver side is ucp/tag/flow.hpp.
#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/tag/flow.hpp"

namespace ucp {

void peer::on_window_spent(ep& sender) {
    if (window_.next_step() == eager_window::step::request_credits) {
        request_credits(sender);
    } else {
        credits_changed();
    }
}

void peer::credits_granted(const ep& over) noexcept {
    // A grant for a request that was repeated over another endpoint must not count as the grant of
    // a later request.
    if (credits_requested_over_ != &over) return;
    credits_requested_over_ = nullptr;
    if (window_.on_granted()) credits_changed();
}

void peer::begin_without_credits() noexcept {
    if (window_.begin_without_credits()) credits_changed();
}

void peer::request_credits(ep& ready) {
    if (!window_.is_requested() || credits_requested_over_ != nullptr) return;
    credits_requested_over_ = &ready;
    send_credit_request(ready);
}

// If there is no other working endpoint, the next one that becomes ready requests the credits.
void peer::request_credits_again(const ep& ending) {
    if (credits_requested_over_ != &ending) return;
    credits_requested_over_ = nullptr;
    for (ep& each : endpoints_) {
        const wireup::state current = each.connection();
        const bool works = each.failure() == UCS_OK && (current == wireup::state::ready ||
                                                        current == wireup::state::peer_closed);
        if (!works || &each == &ending) continue;
        request_credits(each);
        return;
    }
}

void peer::credits_changed() noexcept {
    if (window_.uses_rendezvous()) {
        ucs::log::debug(
            proto_log,
            "worker {:x} posts no receives for the messages sent to it: messages begin with "
            "a request to send until it does",
            uid_);
        owner_.count(activity::held_senders);
    }
    for (ep& each : endpoints_)
        each.credits_changed();
}

}  // namespace ucp
