// The sending side of one endpoint's connection to a peer.
#pragma once

#include "uct/ib/ud/base/packet.hpp"
#include "uct/ib/ud/base/peer.hpp"

namespace uct::ud {

class ep;

// A flush, which ends when the peer has acknowledged all packets before the number `last`.
struct flush_op {
    ucs::datastruct::queue_hook hook;
    psn last;
    completion* done = nullptr;
    ucs_status_t status = UCS_OK;
    connection* conn = nullptr;
};
using flush_queue = ucs::datastruct::queue<flush_op, &flush_op::hook>;

// A connection outlives its endpoint until the peer has acknowledged everything. It is owned by the
// endpoint, later by the interface. Owner context.
class connection : public sending_side {
public:
    connection(std::shared_ptr<peer> to, const sender::setup& with) noexcept
        : sending_side(with), to_(std::move(to)) {
        to_->connections.push_back(*this);
    }

    [[nodiscard]] peer& to() const noexcept { return *to_; }

    std::uint64_t id = 0;
    ep* endpoint = nullptr;  // nullptr: the endpoint is destroyed
    flush_queue flushes;
    // Number of zero-copy sends and flushes whose completions have not been called. The failure of
    // the endpoint is reported after these.
    unsigned open_operations = 0;
    bool dismantled = false;  // it has failed; its packets are dropped, its flushes ended
    ucs::datastruct::auto_unlink_hook send_queue_hook;  // linked: it waits for a free work request
    ucs::datastruct::auto_unlink_hook timer_hook;       // linked: its protocol has a deadline
    // Index in lingering_connections, which owns the connection once the endpoint is destroyed.
    static constexpr std::size_t not_lingering = ~std::size_t{0};
    std::size_t lingering_index = not_lingering;
    ucs::datastruct::auto_unlink_hook ended_hook;  // linked: lingering_connections will destroy it

private:
    const std::shared_ptr<peer> to_;
};

}  // namespace uct::ud
