// The peers of a worker, by public key and address.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "ucp/core/peer.hpp"

namespace ucp {

// Owns the peers: those that are known, and those outside of the table (replaced, failed or
// temporary) that are still referred to. Owner context.
class peer_table {
public:
    explicit peer_table(worker& owner) noexcept : owner_(owner) {}
    ~peer_table() { clear(); }
    peer_table(const peer_table&) = delete;
    peer_table& operator=(const peer_table&) = delete;

    // Returns the peer with this public key, made from the address when it is new. `packed` begins
    // with a readable address that holds the key. A given address is used for all endpoints to the
    // worker from then on. A claimed one is used for the endpoints that claim the same address, as
    // long as none was given.
    peer& intern(const ucs::security::public_key& key, peer_identity::source from,
                 std::span<const std::byte> packed);
    // Makes a temporary peer, which is never in the table and goes with its last use.
    [[nodiscard]] peer& add_passing(const ucs::security::public_key& key,
                                    std::span<const std::byte> packed);
    // Takes the peer out of the table; it goes with its last use.
    void forget(peer& dead) noexcept;
    // Destroys a peer.
    void erase(peer& gone) noexcept;
    void clear() noexcept;

    // Returns the peer with this key whose address was given, or nullptr.
    [[nodiscard]] peer* find(const ucs::security::public_key& key) noexcept;
    // Returns the peer that `intern` would return for a claimed address, or nullptr.
    [[nodiscard]] peer* find(const ucs::security::public_key& key,
                             std::span<const std::byte> packed) noexcept;
    // Calls `test` with each peer of this uid until the test passes, and returns that peer or
    // nullptr. Peers whose addresses were given come first.
    template<class Test>
    [[nodiscard]] peer* find_if(std::uint64_t uid, const Test& test) {
        for (const bool claimed : {false, true}) {
            for (auto [each, last] = known_.equal_range(uid); each != last; ++each) {
                peer& known = *each->second;
                if (known.identity().is_claimed() == claimed && test(known)) return &known;
            }
        }
        return nullptr;
    }
    // Does the same for a test that computes a proof under the peer's key. Clients at a listener
    // may claim any number of keys with one uid, and one key with any number of addresses: only a
    // few of the claimed keys are tested, each once.
    static constexpr std::size_t most_claims_tested = 8;
    template<class Test>
    [[nodiscard]] peer* find_proving(std::uint64_t uid, const Test& test) {
        std::array<const ucs::security::public_key*, most_claims_tested> tested;
        std::size_t count = 0;
        return find_if(uid, [&](peer& each) {
            if (!each.identity().is_claimed()) return test(each);
            const auto is_same = [&](const auto* known) { return *known == each.identity().key(); };
            const auto end = tested.begin() + static_cast<std::ptrdiff_t>(count);
            if (count == tested.size() || std::any_of(tested.begin(), end, is_same)) return false;
            tested[count++] = &each.identity().key();
            return test(each);
        });
    }
    // Returns the known peer whose messages come over this connection of an interface, or nullptr.
    [[nodiscard]] peer* find_behind(std::uint64_t connection) const noexcept;
    // Returns the peer with the largest share of a limit, or nullptr if no peer has any. Peers that
    // have failed already are excluded.
    using share_getter = const limit_share& (*)(const peer&);
    [[nodiscard]] peer* find_with_most(share_getter share_of) noexcept;
    // Returns whether the peer is in the table, and not replaced or temporary.
    [[nodiscard]] bool is_known(const peer& wanted) noexcept {
        return find_known(wanted) != known_.end();
    }
    [[nodiscard]] std::size_t size() const noexcept { return known_.size() + outside_count_; }
    // Visits the known peers.
    template<class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [uid, each] : known_)
            visit(*each);
    }

private:
    using map = std::unordered_multimap<std::uint64_t, std::unique_ptr<peer>>;  // by uid
    [[nodiscard]] map::iterator find_known(const peer& wanted) noexcept;

    worker& owner_;
    map known_;
    ucs::datastruct::auto_list<peer, &peer::dead_hook> outside_;
    std::size_t outside_count_ = 0;
};

}  // namespace ucp
