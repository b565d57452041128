// Remote interfaces: peers that datagrams go to or come from.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/ib/ud/base/datagram_source.hpp"
#include "uct/ib/ud/base/sender.hpp"
#include "uct/ib/ud/base/wire.hpp"

namespace uct::ud {

class receiver;

// The sending side of a connection, as listed by its peer. Owner context.
struct sending_side {
    explicit sending_side(const sender::setup& with) noexcept : protocol(with) {}

    sender protocol;
    ucs::datastruct::auto_unlink_hook peer_hook;
};

// A remote interface. All connections with it, in both directions, share one. Owner context.
struct peer {
    wire::address where;
    std::shared_ptr<ibv_ah> address_handle;
    // Payload bytes of one datagram that both sides accept.
    std::size_t payload = 0;
    // A connection from the peer whose packets are not acknowledged, if there is one. The next
    // datagram to the peer carries the acknowledgement.
    receiver* pending_ack = nullptr;
    // Connections to the peer.
    ucs::datastruct::auto_list<sending_side, &sending_side::peer_hook> connections;
    ucs::datastruct::auto_unlink_hook source_hook;  // of peer_table
};

// The peers in use, by their whole address. Parts of an address prove nothing, so an address that
// claims the interface id of another one is another peer. Owner context.
//
// For a datagram that does not name its peer the table visits a bounded number of peers, however
// many there are: peers that have been heard are also listed by their source. A sender that claims
// many addresses lengthens its own list only.
class peer_table {
public:
    peer_table() noexcept : peer_table(ucs::sys::random_hash_key()) {}

    // Returns nullptr if no such peer is in use.
    [[nodiscard]] std::shared_ptr<peer> find(const wire::address& where) const noexcept {
        const auto place = peers_.find(where);
        return place == peers_.end() ? nullptr : place->second.lock();
    }
    // May throw std::bad_alloc.
    void add(const std::shared_ptr<peer>& fresh) {
        clean(peers_, clean_at_, [](const auto& each) { return each.expired(); });
        peers_.insert_or_assign(fresh->where, fresh);
    }
    // Records that a datagram of the peer came from `source`. A source that cannot have the address
    // of the peer is ignored, because replies would go elsewhere. Without memory nothing is
    // recorded, and the peer has to run into a timeout instead of receiving a reply.
    void note_heard(peer& from, const datagram_source& source) noexcept {
        if (!source.may_be(from.where.port, from.where.pair)) return;
        static_cast<void>(ucs::allocated([&] {
            clean(by_source_, clean_sources_at_, [](const auto& each) { return each.empty(); });
            heard_list& list = by_source_[source];
            from.source_hook.unlink();
            list.push_front(from);
        }));
    }
    // Calls `visit` for the peers that were heard from `source`. If there are more than
    // `max_replies`, it visits the latest ones.
    template<class Visit>
    void visit_heard(const datagram_source& source, Visit&& visit) {
        const auto place = by_source_.find(source);
        if (place == by_source_.end()) return;
        unsigned visited = 0;
        for (peer& each : place->second) {
            if (visited++ == max_replies) return;
            visit(each);
        }
    }
    // Returns a connection to one of these peers for which `is_meant` holds, or nullptr. At most
    // `max_visits` connections are visited; the next call continues after them.
    template<class Test>
    [[nodiscard]] sending_side* find_connection(const datagram_source& source, Test&& is_meant) {
        sending_side* found = nullptr;
        unsigned visits = 0;
        visit_heard(source, [&](peer& each) {
            auto& all = each.connections;
            sending_side* const last = all.empty() ? nullptr : &all.back();
            for (bool more = last != nullptr; more && found == nullptr && visits < max_visits;) {
                ++visits;
                sending_side& first = all.front();
                all.splice(all.end(), all, all.begin());
                if (is_meant(first)) found = &first;
                more = &first != last;
            }
        });
        return found;
    }
    // Number of entries, including expired peers that have not been removed.
    [[nodiscard]] std::size_t size() const noexcept { return peers_.size(); }

    static constexpr unsigned max_replies = 4;
    static constexpr unsigned max_visits = 64;

private:
    using heard_list = ucs::datastruct::auto_list<peer, &peer::source_hook>;

    explicit peer_table(const ucs::sys::hash_key& key) noexcept
        : peers_(0, wire::address_hash(key)), by_source_(0, datagram_source_hash(key)) {}

    // Removes unused entries when they may be half of the map.
    template<class Map, class Test>
    static void clean(Map& map, std::size_t& clean_at, Test&& is_unused) {
        if (map.size() < clean_at) return;
        std::erase_if(map, [&](const auto& each) { return is_unused(each.second); });
        clean_at = std::max<std::size_t>(64, 2 * map.size());
    }

    std::unordered_map<wire::address, std::weak_ptr<peer>, wire::address_hash> peers_;
    // The peer that was heard last comes first. A peer leaves its list when it is destroyed.
    std::unordered_map<datagram_source, heard_list, datagram_source_hash> by_source_;
    std::size_t clean_at_ = 64;
    std::size_t clean_sources_at_ = 64;
};

}  // namespace uct::ud
