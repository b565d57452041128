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

ep* peer_endpoints::find_for_request(std::uint64_t number, std::uint64_t remote_ep) noexcept {
    ep* found = nullptr;
    const auto [first, last] = all_.equal_range(number);
    for (auto each = first; each != last; ++each) {
        const wireup::state current = each->connection();
        // The request is a repeated one: the peer changed its lane, or had no reply for long. An
        // endpoint that was closed meanwhile has replied already.
        const bool answered = current == wireup::state::ready || current == wireup::state::closing;
        if (answered && each->remote_id() == remote_ep) return &*each;
        if (wireup::is_waiting(current) && found == nullptr) found = &*each;
    }
    return found;
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
