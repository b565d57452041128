// Cache of address handles: the device's paths to peers.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "ucs/random/siphash.hpp"
#include "uct/ib/base/credits.hpp"
#include "uct/ib/base/device/path.hpp"
#include "uct/ib/base/memory/domain.hpp"

namespace uct::ib {

// Address handles of one port: one for each peer port, which all endpoints and interfaces of that
// peer share. Creating one may query the network for the peer's hardware address, so some unused
// ones are kept. An unused one is destroyed when the device has sent everything that was posted
// while it was in use. Owned by an interface, before all users; owner context.
class address_handles {
public:
    static constexpr std::size_t most_unused = 64;

    address_handles(domain& on, const path_setup& from) noexcept : domain_(on), from_(from) {}

    // `sends`: credits of the queue that uses the handles. Returns UCS_ERR_UNREACHABLE if the
    // device finds no path. Failures are not logged, because the peer may be a stranger. May throw
    // std::bad_alloc.
    ucs::result<std::shared_ptr<ibv_ah>> get(const address& peer, const send_credits& sends);
    [[nodiscard]] std::size_t size() const noexcept { return handles_.size(); }

private:
    // A path to a peer depends on its GID or on its LID; the other member is 0.
    struct key {
        raw_gid gid{};
        std::uint16_t lid = 0;
        friend bool operator==(const key&, const key&) = default;
    };
    // Peers choose the values, so the hash is keyed.
    struct hash {
        ucs::sys::hash_key secret;
        std::size_t operator()(const key& hashed) const noexcept;
    };
    struct entry {
        std::shared_ptr<ibv_ah> handle;
        // If set, the handle has been unused since that request was posted.
        std::optional<std::uint32_t> unused_since = std::nullopt;
    };
    void drop_unused(const send_credits& sends) noexcept;

    domain& domain_;
    const path_setup from_;
    std::unordered_map<key, entry, hash> handles_{0, hash{ucs::sys::random_hash_key()}};
};

}  // namespace uct::ib
