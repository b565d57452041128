// The functions of class worker for endpoints that connect by socket address (ucp/cm).
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

// The placeholder's public key is all zeros, which no worker has.
peer& worker::add_unknown_peer() {
    return peers_.add_passing({}, {});
}

bool worker::bind(ep& client, const wire::wireup_header& header,
                  std::span<const std::byte> address) {
    const auto parsed = address::parse(address, &rejected_);
    if (!parsed || parsed->uid() != header.uid) {
        // address::parse has logged why an address cannot be read.
        if (parsed) {
            rejected_.warn(
                wireup_log,
                "the server of endpoint {:x} sent the address of worker {:x} in the name "
                "of worker {:x}: the connection ends",
                client.id(), parsed->uid(), header.uid);
        }
        client.handle(wireup::event::failure, UCS_ERR_REJECTED);
        return false;
    }
    peer& to = peers_.intern(parsed->identity, peer_identity::source::given, address);
    const peer_use kept(to);
    client.bind(to);
    return true;
}

}  // namespace ucp
