#include "ucp/core/keepalive.hpp"

#include <algorithm>
#include <cmath>

#include "ucp/core/events.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

namespace {

ucs::time::nanoseconds part_of(double seconds, unsigned parts) noexcept {
    return std::isinf(seconds) ? 0 : ucs::time::from_seconds(std::min(seconds, 1e6) / parts);
}

}  // namespace

keepalive::keepalive(ucs::async::event_loop& events, const config& options) noexcept
    : events_(events),
      pause_(part_of(options.keepalive_interval.seconds, checks_per_interval)),
      at_once_(options.keepalive_peers) {}

keepalive::~keepalive() {
    if (timer_ != 0) events_.remove_timer(timer_);
}

void keepalive::add(peer& fresh) noexcept {
    if (pause_ == 0 || fresh.watched_hook.is_linked()) return;
    peers_.push_back(fresh);
    if (timer_ != 0) return;
    timer_ = events_.add_timer(pause_, [this] { check_peers(); });
    if (timer_ == 0)
        ucs::log::error(wireup_log, "out of memory: the keepalive does not watch peers");
}

// Failures that a probe finds are reported from progress, so no peer leaves the list during the
// loop.
void keepalive::check_peers() noexcept {
    unsigned left = at_once_;
    auto next = peers_.begin();
    for (; next != peers_.end() && left > 0; ++next, --left) {
        if (next->lanes().is_open()) publish(events::peer_probed{*next});
    }
    asked_ = at_once_ - left;
    // If the walk reached the end, the same peers are next; and a list cannot be spliced in front
    // of itself.
    if (++checks_ % checks_per_interval == 0 && next != peers_.end()) {
        // The same peers are probed for a whole interval; then the ones behind them follow.
        peers_.splice(peers_.end(), peers_, peers_.begin(), next);
    }
    if (!peers_.empty()) return;
    events_.remove_timer(timer_);
    timer_ = 0;
}

}  // namespace ucp
