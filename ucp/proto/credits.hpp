// Eager window, sender side: bounds the memory that eager messages take at the receiver. The
// receiver side is ucp/tag/flow.hpp.
#pragma once

#include "ucp/core/slots.hpp"
#include "ucp/proto/eager_window.hpp"

namespace ucp {

class ep;
class peer;

// Slot of a peer: the credits that it grants. All endpoints share one window, because one worker
// stores what they send. Owner context.
class eager_credits {
public:
    explicit eager_credits(peer& of_peer) noexcept;

    [[nodiscard]] eager_window& window() noexcept { return window_; }
    // An eager message of `sender` has used up half of the window.
    void on_window_spent(ep& sender);
    // The peer has granted the credits that were requested over this endpoint.
    void on_granted(const ep& over) noexcept;
    // The peer has said that it has no credits, before we requested any.
    void begin_without() noexcept;
    // Requests credits over this endpoint, which is ready, unless a request is under way.
    void request(ep& ready);
    // This endpoint ends: a credit request that went over it is repeated over another endpoint.
    void request_again(const ep& ending);
    // This endpoint is gone.
    void forget(const ep& gone) noexcept {
        if (requested_over_ == &gone) requested_over_ = nullptr;
    }

private:
    void on_change() noexcept;

    peer& peer_;
    eager_window window_;
    const ep* requested_over_ = nullptr;
};

}  // namespace ucp
