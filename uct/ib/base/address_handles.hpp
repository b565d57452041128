// Ways to peers, as the device knows them.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "ucs/sys/siphash.hpp"
#include "uct/ib/base/credits.hpp"
#include "uct/ib/base/domain.hpp"
#include "uct/ib/base/path.hpp"

namespace uct::ib {

// Address handles of one port: one for each peer port, however many endpoints or interfaces of that
// peer it leads to. Making one may ask the network for the peer's hardware address, so some that
// nobody uses are kept. Those go when the device has sent what it was given while they were in use.
// Owned by an interface, before all users; owner context.
class address_handles {
public:
    static constexpr std::size_t most_unused = 64;

    address_handles(domain& on, const path_setup& from) noexcept : domain_(on), from_(from) {}

    // `sends`: of the queue that they are used with. UCS_ERR_UNREACHABLE: the device knows no way.
    // Not logged: who asks may be a stranger. May throw std::bad_alloc.
    ucs::result<std::shared_ptr<ibv_ah>> get(const address& peer, const send_credits& sends);
    [[nodiscard]] std::size_t size() const noexcept { return handles_.size(); }

private:
    // A way to a peer depends on its GID or on its LID; the other one is 0.
    struct key {
        raw_gid gid{};
        std::uint16_t lid = 0;
        friend bool operator==(const key&, const key&) = default;
    };
    // Peers choose what they claim.
    struct hash {
        ucs::sys::hash_key secret;
        std::size_t operator()(const key& hashed) const noexcept;
    };
    struct entry {
        std::shared_ptr<ibv_ah> way;
        // It is not known to be in use since that request was posted.
        std::optional<std::uint32_t> unused_since = std::nullopt;
    };
    void drop_unused(const send_credits& sends) noexcept;

    domain& domain_;
    const path_setup from_;
    std::unordered_map<key, entry, hash> handles_{0, hash{ucs::sys::random_hash_key()}};
};

}  // namespace uct::ib
