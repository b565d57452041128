#include "ucp/core/peer_endpoints.hpp"

#include "ucp/core/events.hpp"
#include "ucp/core/peer.hpp"

namespace ucp {

void peer_endpoints::attach(ep& user) noexcept {
    peer_.hold();
    all_.insert(user);
    if (user.number() >= next_number_ && user.number() < first_apart_number)
        next_number_ = user.number() + 1;
    publish(events::endpoint_attached{peer_});
}

void peer_endpoints::detach(ep& user) noexcept {
    all_.erase(all_.iterator_to(user));
    publish(events::endpoint_detached{peer_, user});
    peer_.release();
}

}  // namespace ucp
