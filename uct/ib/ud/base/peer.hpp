// An interface that datagrams go to or come from.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

class receiver;

// One for all connections with that interface, in both directions. Shared by them; owner context.
struct peer {
    wire::address where;
    std::shared_ptr<ibv_ah> way;
    // Payload of one datagram that both sides take.
    std::size_t payload = 0;
    // A connection from there whose packets are not acknowledged, if there is one: the next
    // datagram to the peer does it on the way.
    receiver* owed = nullptr;
};

// The peers that are in use, by their whole address: parts of an address prove nothing, so one that
// merely claims the interface id of another is another peer. Owner context.
class peer_table {
public:
    peer_table() noexcept : peers_(0, wire::address_hash(ucs::sys::random_hash_key())) {}

    // Returns nullptr if no such peer is in use.
    [[nodiscard]] std::shared_ptr<peer> find(const wire::address& where) const noexcept {
        const auto place = peers_.find(where);
        return place == peers_.end() ? nullptr : place->second.lock();
    }
    // May throw std::bad_alloc.
    void add(const std::shared_ptr<peer>& fresh) {
        if (peers_.size() >= clean_at_) {
            std::erase_if(peers_, [](const auto& each) { return each.second.expired(); });
            clean_at_ = std::max<std::size_t>(64, 2 * peers_.size());
        }
        peers_.insert_or_assign(fresh->where, fresh);
    }
    template<class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [where, each] : peers_) {
            if (const std::shared_ptr<peer> known = each.lock()) visit(*known);
        }
    }

private:
    std::unordered_map<wire::address, std::weak_ptr<peer>, wire::address_hash> peers_;
    std::size_t clean_at_ = 64;
};

}  // namespace uct::ud
