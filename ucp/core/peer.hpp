// A remote worker: its identity, its lanes and its endpoints.
#pragma once

#include "ucp/core/control_channel.hpp"
#include "ucp/core/lanes.hpp"
#include "ucp/core/peer_endpoints.hpp"
#include "ucp/core/peer_identity.hpp"
#include "ucp/core/shared_limit.hpp"
#include "ucp/core/uninvited.hpp"

namespace ucp {

// One object per remote worker, found by the worker's public key; every endpoint to that worker
// shares its lanes. The worker owns the peer and keeps it while endpoints or queued control
// messages refer to it. Owner context.
class peer {
public:
    // Makes a peer with the slots of all features (ucp/features).
    [[nodiscard]] static std::unique_ptr<peer> make(worker& owner,
                                                    const ucs::security::public_key& key,
                                                    peer_identity::source from,
                                                    std::vector<std::byte> packed_address);
    virtual ~peer();
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] std::uint64_t uid() const noexcept { return identity_.uid(); }

    // The parts of a peer.
    [[nodiscard]] peer_identity& identity() noexcept { return identity_; }
    [[nodiscard]] const peer_identity& identity() const noexcept { return identity_; }
    [[nodiscard]] peer_lanes& lanes() noexcept { return lanes_; }
    [[nodiscard]] const peer_lanes& lanes() const noexcept { return lanes_; }
    [[nodiscard]] peer_endpoints& endpoints() noexcept { return endpoints_; }
    [[nodiscard]] control_channel& control() noexcept { return control_; }

    // The peer and its lanes are gone: ends every endpoint with the status.
    void fail_all(ucs_status_t status);
    // Ends every endpoint with the status, although the peer and its lanes are alive. The peer is
    // notified, and no new endpoint joins this peer object.
    void fail_alive(ucs_status_t status);
    // Does the same with UCS_ERR_EXCEEDS_LIMIT, and drops the control messages that wait for the
    // peer. No further ones are sent, and the next progress ends the connection by which the peer
    // sends.
    void fail_for_limit();
    [[nodiscard]] bool dead() const noexcept { return dead_; }

    void hold() noexcept { ++references_; }
    void release() noexcept;
    [[nodiscard]] bool is_held() const noexcept { return references_ > 0; }

    // The connection over which the last proven connection message of the worker came, see
    // uct::iface::connection_of; 0: not known.
    std::uint64_t connection = 0;

    // The peer's share of peer_limits::waiting.
    limit_share waiting_share;
    // This peer's part of the limit on endpoints that the program has not asked for.
    struct uninvited_part final : uninvited_peers::part {
        uninvited_part(uninvited_peers& all, peer& of_peer) noexcept : part(all), owner(of_peer) {}
        peer& owner;
    } uninvited;

    ucs::datastruct::auto_unlink_hook trash_hook;      // in the worker's list of unused peers
    ucs::datastruct::auto_unlink_hook failing_hook;    // in its list of peers to fail
    ucs::datastruct::auto_unlink_hook dead_hook;       // in its list of peers outside of its table
    ucs::datastruct::auto_unlink_hook resuming_hook;   // in its list of peers to resume
    ucs::datastruct::auto_unlink_hook deferring_hook;  // among the peers that defer sends to us
    ucs::datastruct::auto_unlink_hook refused_hook;    // among the peers that exist to be refused
    ucs::time::nanoseconds refused_since = 0;          // only of these peers
    ucs::datastruct::auto_unlink_hook watched_hook;    // in the list of the keepalive

protected:
    peer(worker& owner, const ucs::security::public_key& key, peer_identity::source from,
         std::vector<std::byte> packed_address);
    // Ends the peer before its slots are destroyed.
    void end() noexcept;

private:
    worker& owner_;
    peer_identity identity_;
    peer_endpoints endpoints_{*this};
    peer_lanes lanes_;
    control_channel control_{*this};
    unsigned references_ = 0;
    bool dead_ = false;
};

// Holds a reference to a peer for a scope. An unused peer may be destroyed after the scope.
class peer_use {
public:
    explicit peer_use(peer& used) noexcept : used_(used) { used.hold(); }
    ~peer_use() { used_.release(); }
    peer_use(const peer_use&) = delete;
    peer_use& operator=(const peer_use&) = delete;

private:
    peer& used_;
};

}  // namespace ucp
