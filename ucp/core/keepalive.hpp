// Asking now and then whether peers still answer.
#pragma once

#include "ucp/core/config.hpp"
#include "ucp/core/peer.hpp"
#include "ucs/async/event_loop.hpp"

namespace ucp {

// Looks after the peers of endpoints with error handling mode PEER whose transport cannot tell by
// itself that a peer is gone. Part of the worker; owner context. Has a timer only while there is
// somebody to look after.
class keepalive {
public:
    keepalive(ucs::async::event_loop& events, const config& options) noexcept;
    ~keepalive();
    keepalive(const keepalive&) = delete;
    keepalive& operator=(const keepalive&) = delete;

    // UCX_KEEPALIVE_INTERVAL; 0: never.
    [[nodiscard]] ucs::time::nanoseconds interval() const noexcept {
        return pause_ * looks_per_interval;
    }

    // From now on, until it is destroyed.
    void add(peer& fresh) noexcept;

    // Peers that were asked at the last look.
    [[nodiscard]] unsigned asked() const noexcept { return asked_; }
    // Intervals that passed with somebody to look after.
    [[nodiscard]] unsigned rounds() const noexcept { return looks_ / looks_per_interval; }

    // A peer is lost after as many vain looks as one interval has, see uct::ep::check.
    static constexpr unsigned looks_per_interval = 4;

private:
    void look() noexcept;

    ucs::async::event_loop& events_;
    const ucs::time::nanoseconds pause_;  // between two looks
    const unsigned at_once_;
    unsigned looks_ = 0;
    unsigned asked_ = 0;
    ucs::async::event_loop::timer_id timer_ = 0;
    ucs::datastruct::auto_list<peer, &peer::watched_hook> peers_;  // the next ones in front
};

}  // namespace ucp
