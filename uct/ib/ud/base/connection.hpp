// What one endpoint sends, and to whom.
#pragma once

#include "uct/ib/ud/base/packet.hpp"
#include "uct/ib/ud/base/peer.hpp"

namespace uct::ud {

class ep;

// Somebody waits until all before a number is acknowledged.
struct flush_op {
    ucs::datastruct::queue_hook hook;
    psn until;
    completion* done = nullptr;
    ucs_status_t status = UCS_OK;
    connection* on = nullptr;
};
using flush_queue = ucs::datastruct::queue<flush_op, &flush_op::hook>;

// Outlives its endpoint until the peer has everything. Owned by the endpoint, later by the
// interface; owner context.
class connection : public sending_side {
public:
    connection(std::shared_ptr<peer> to, const sender::setup& with) noexcept
        : sending_side(with), to_(std::move(to)) {
        to_->connections.push_back(*this);
    }

    [[nodiscard]] peer& to() const noexcept { return *to_; }

    std::uint64_t id = 0;
    ep* user = nullptr;  // nullptr when it lingers without
    flush_queue flushes;
    // Operations whose ends were not told: the endpoint's failure comes after them.
    unsigned open = 0;
    bool dismantled = false;  // it failed, and nothing is in its window any more
    ucs::datastruct::auto_unlink_hook attention_hook;  // has something to send as soon as it can
    ucs::datastruct::auto_unlink_hook timer_hook;      // waits for an answer
    // In lingering_connections.
    static constexpr std::size_t nowhere = ~std::size_t{0};
    std::size_t lingering_place = nowhere;
    ucs::datastruct::auto_unlink_hook ended_hook;

private:
    const std::shared_ptr<peer> to_;
};

}  // namespace uct::ud
