#include "ucp/core/peer_table.hpp"

#include "ucp/core/events.hpp"

namespace ucp {

peer& peer_table::intern(const ucs::security::public_key& key, peer_identity::source from,
                         std::span<const std::byte> packed) {
    peer* known = find(key, packed);
    if (known == nullptr) {
        const auto address = packed.first(*address::packed_length(packed));
        const auto made = known_.emplace(
            address::uid_of(key),
            peer::make(owner_, key, from, std::vector<std::byte>(address.begin(), address.end())));
        known = made->second.get();
    } else if (from == peer_identity::source::claimed) {
        return *known;
    } else if (!known->identity().is_claimed()) {
        publish(events::address_given{*known, packed.first(*address::packed_length(packed))});
        return *known;
    }
    if (from == peer_identity::source::claimed) return *known;
    // This is the first given address: claimed ones no longer count.
    known->identity().confirm();
    for (auto [each, last] = known_.equal_range(known->uid()); each != last; ++each) {
        peer& other = *each->second;
        if (other.identity().is_claimed() && other.identity().key() == key)
            publish(events::claim_confirmed{other, *known});
    }
    return *known;
}

peer& peer_table::add_passing(const ucs::security::public_key& key,
                              std::span<const std::byte> packed) {
    auto fresh = peer::make(owner_, key, peer_identity::source::claimed,
                            std::vector<std::byte>(packed.begin(), packed.end()));
    outside_.push_back(*fresh);
    ++outside_count_;
    return *fresh.release();
}

void peer_table::forget(peer& dead) noexcept {
    dead.watched_hook.unlink();
    const auto known = find_known(dead);
    if (known == known_.end()) return;
    outside_.push_back(*known->second.release());
    ++outside_count_;
    known_.erase(known);
}

void peer_table::erase(peer& gone) noexcept {
    const auto known = find_known(gone);
    if (known != known_.end()) {
        known_.erase(known);
    } else {
        --outside_count_;
        delete &gone;
    }
}

void peer_table::clear() noexcept {
    known_.clear();
    outside_.clear_and_dispose([](peer* dead) { delete dead; });
}

peer_table::map::iterator peer_table::find_known(const peer& wanted) noexcept {
    for (auto [each, last] = known_.equal_range(wanted.uid()); each != last; ++each)
        if (each->second.get() == &wanted) return each;
    return known_.end();
}

peer* peer_table::find(const ucs::security::public_key& key) noexcept {
    return find_if(address::uid_of(key), [&](const peer& each) {
        return !each.identity().is_claimed() && each.identity().key() == key;
    });
}

peer* peer_table::find(const ucs::security::public_key& key,
                       std::span<const std::byte> packed) noexcept {
    return find_if(address::uid_of(key), [&](const peer& each) {
        return each.identity().key() == key &&
               (!each.identity().is_claimed() || each.identity().has_address(packed));
    });
}

peer* peer_table::find_behind(std::uint64_t connection) const noexcept {
    for (const auto& [uid, each] : known_)
        if (each->connection == connection) return each.get();
    return nullptr;
}

peer* peer_table::find_with_most(share_getter share_of) noexcept {
    peer* most = nullptr;
    const auto look_at = [&](peer& each) {
        const std::uint64_t before = most == nullptr ? 0 : share_of(*most).used();
        if (each.control().is_sent() && share_of(each).used() > before) most = &each;
    };
    for (const auto& [uid, each] : known_)
        look_at(*each);
    for (peer& each : outside_)
        look_at(each);
    return most;
}

}  // namespace ucp
