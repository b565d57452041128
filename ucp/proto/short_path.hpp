// The short path of an endpoint: sends that end within their call.
#pragma once

#include <cstddef>

#include "ucp/core/slots.hpp"
#include "ucp/proto/eager_window.hpp"
#include "ucp/proto/selection.hpp"

namespace ucp {

// Slot of an endpoint, with what the choice of a protocol needs. Owner context.
class short_path {
public:
    explicit short_path(ep& endpoint) noexcept;

    // Returns whether am_short carries an eager message of this length; false while the endpoint is
    // not ready. This is the only check of the send path.
    [[nodiscard]] bool fits(std::size_t length) const noexcept { return length < end_; }
    // Accounts for an eager tagged message that was sent.
    void add_sent(ep& sender, std::size_t length) {
        if (window_->add_sent(length)) [[unlikely]]
            on_window_spent(sender);
    }
    // Messages must begin with an RTS until the receiver grants credits again.
    [[nodiscard]] bool must_use_rendezvous() const noexcept { return window_->uses_rendezvous(); }
    [[nodiscard]] const protocol_table& protocols() const noexcept { return *protocols_; }

    // The endpoint gets its lane: takes the protocols for that. The path stays closed.
    void take_protocols(const ep& endpoint) noexcept;
    // Opens the path, unless messages must wait or begin with an RTS.
    void open(const ep& endpoint) noexcept;
    void close() noexcept { end_ = 0; }
    // The sender began or stopped to use rendezvous or to defer sends: opens or closes the path.
    void update(const ep& endpoint) noexcept;
    // Protocols of the peer's lanes changed: takes the new table.
    void refresh(const ep& endpoint) noexcept;
    // The endpoint is about to move to this peer object.
    void move_to(peer& to) noexcept;

private:
    static void on_window_spent(ep& sender);

    std::size_t end_ = 0;   // am_short carries lengths below it; 0: not ready
    eager_window* window_;  // shared by all endpoints to the peer
    const protocol_table* protocols_ = nullptr;
};

// Updates the short paths of all endpoints to the peer.
void update_short_paths(peer& to) noexcept;

}  // namespace ucp
