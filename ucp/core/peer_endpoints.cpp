#include "ucp/core/peer_endpoints.hpp"

#include <algorithm>

#include "ucp/core/peer.hpp"

namespace ucp {

void peer_endpoints::attach(ep& user) noexcept {
    peer_.hold();
    all_.insert(user);
    if (user.number() >= next_number_ && user.number() < first_apart_number)
        next_number_ = user.number() + 1;
    peer_.pairing().release_reference();
}

void peer_endpoints::detach(ep& user) noexcept {
    all_.erase(all_.iterator_to(user));
    peer_.credits().forget(user);
    peer_.release();
}

ep* peer_endpoints::first_unowned() noexcept {
    for (ep& each : unowned_) {
        if (each.adoptable()) return &each;
    }
    return nullptr;
}

// Endpoints that are over need no lane, although they may wait for room for their final message.
bool peer_endpoints::is_any_wanted() const noexcept {
    return std::any_of(all_.begin(), all_.end(),
                       [](const ep& each) { return !wireup::is_over(each.connection()); });
}

bool peer_endpoints::is_any_established() const noexcept {
    return std::any_of(all_.begin(), all_.end(),
                       [](const ep& each) { return wireup::is_established(each.connection()); });
}

}  // namespace ucp
