// A sender's part in keeping its receiver's memory bounded; the receiver's is ucp/tag/flow.hpp.
#include "ucp/core/log.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/tag/flow.hpp"

namespace ucp {

void peer::overdrawn(ep& by) {
    if (budget_.next_step() == eager_budget::step::ask) {
        ask_over(by);
    } else {
        room_changed();
    }
}

void peer::room_granted(const ep& over) noexcept {
    // An answer to a question that was put again is not to be taken for that of a later one.
    if (asked_over_ != &over) return;
    asked_over_ = nullptr;
    if (budget_.answered()) room_changed();
}

void peer::begin_held() noexcept {
    if (budget_.hold()) room_changed();
}

void peer::ask_over(ep& ready) {
    if (!budget_.asked() || asked_over_ != nullptr) return;
    asked_over_ = &ready;
    ask_for_room(ready);
}

// When there is no other one, the next that becomes ready asks.
void peer::ask_again(const ep& ending) {
    if (asked_over_ != &ending) return;
    asked_over_ = nullptr;
    for (ep& each : endpoints_) {
        const wireup::state at = each.connection();
        const bool works = each.failure() == UCS_OK &&
                           (at == wireup::state::ready || at == wireup::state::peer_closed);
        if (!works || &each == &ending) continue;
        ask_over(each);
        return;
    }
}

void peer::room_changed() noexcept {
    if (budget_.held()) {
        ucs::log::debug(proto_log,
                        "worker {:x} does not receive what it is sent: messages are announced "
                        "until it does",
                        uid_);
        owner_.count(activity::held_senders);
    }
    for (ep& each : endpoints_)
        each.room_changed();
}

}  // namespace ucp
