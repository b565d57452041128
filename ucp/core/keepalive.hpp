// Keepalive: probes peers regularly to find those that are gone.
#pragma once

#include "ucp/core/config.hpp"
#include "ucp/core/peer.hpp"
#include "ucs/async/event_loop.hpp"

namespace ucp {

// Watches the peers of endpoints with error handling mode PEER whose transport cannot tell by
// itself that a peer is gone. Part of the worker; owner context. The timer runs only while there
// are peers to watch.
class keepalive {
public:
    keepalive(ucs::async::event_loop& events, const config& options) noexcept;
    ~keepalive();
    keepalive(const keepalive&) = delete;
    keepalive& operator=(const keepalive&) = delete;

    // UCX_KEEPALIVE_INTERVAL; 0: never.
    [[nodiscard]] ucs::time::nanoseconds interval() const noexcept {
        return pause_ * checks_per_interval;
    }

    // Watches the peer from now on, until it is destroyed.
    void add(peer& fresh) noexcept;

    // Peers that were probed at the last check.
    [[nodiscard]] unsigned asked() const noexcept { return asked_; }
    // Intervals that passed while there were peers to watch.
    [[nodiscard]] unsigned rounds() const noexcept { return checks_ / checks_per_interval; }

    // A peer is lost after as many unanswered probes as one interval has, see uct::ep::check.
    static constexpr unsigned checks_per_interval = 4;

private:
    void check_peers() noexcept;

    ucs::async::event_loop& events_;
    const ucs::time::nanoseconds pause_;  // between two checks
    const unsigned at_once_;
    unsigned checks_ = 0;
    unsigned asked_ = 0;
    ucs::async::event_loop::timer_id timer_ = 0;
    ucs::datastruct::auto_list<peer, &peer::watched_hook> peers_;  // the next to be probed in front
};

}  // namespace ucp
