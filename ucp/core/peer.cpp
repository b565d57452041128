#include "ucp/core/peer.hpp"

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

peer::peer(worker& owner, const ucs::security::public_key& key, peer_identity::source from,
           std::vector<std::byte> packed_address)
    : uninvited(owner.limits().uninvited(), *this),
      owner_(owner),
      identity_(owner, key, from, std::move(packed_address)) {}

peer::~peer() = default;

void peer::end() noexcept {
    publish(events::peer_ended{*this});
}

void peer::fail_all(ucs_status_t status) {
    dead_ = true;
    control_.end();
    if (!refused_hook.is_linked()) owner_.log().count(activity::lost_connections);
    owner_.peers().forget(*this);
    const peer_use kept(*this);  // the last endpoint may be destroyed during the loop
    control_.drop_waiting();
    // No endpoint is destroyed before the next slow turn, and none is added to a forgotten peer.
    // Endpoints give memory back to the program, and the peer may not have noticed the failure:
    // abort its access first.
    lanes_.abort();
    publish(events::peer_failed{*this, status});
    publish(events::peer_lost{*this});
}

// The lane and the peer are alive: the peer may be writing into our memory, and queued messages
// still go. This works as closing by force does, except that the program's error handlers run and
// that the peer is notified that we answer no more: the message that was lost may have been a
// reply.
void peer::fail_alive(ucs_status_t status) {
    if (dead_) return;
    owner_.peers().forget(*this);
    const peer_use kept(*this);
    publish(events::peer_failed{*this, status});
}

// Final messages of endpoints need no memory, and nothing waits in front of them. Devices let the
// peer write no more, so that its writes end as well.
void peer::fail_for_limit() {
    const peer_use kept(*this);
    refused_hook.unlink();
    control_.end_for_limit();
    if (dead_) return;
    fail_alive(UCS_ERR_EXCEEDS_LIMIT);
    lanes_.abort();
    owner_.postponed().fail_later(*this);  // which ends the connection
}

void peer::release() noexcept {
    if (--references_ == 0) owner_.postponed().destroy_later(*this);
}

}  // namespace ucp
