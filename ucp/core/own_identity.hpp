// The identity of a worker.
#pragma once

#include <optional>
#include <vector>

#include "ucp/address/address.hpp"
#include "ucs/security/key_pair.hpp"

namespace ucp {

class worker;

// The key pair by which the worker proves connection messages, see ucp/wireup/proof.hpp, and its
// addresses. Part of the worker; owner context.
class own_identity {
public:
    own_identity();

    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    [[nodiscard]] const ucs::security::public_key& public_half() const noexcept {
        return keys_.public_half();
    }
    // Returns the key of connection messages with the worker that has this public key. Returns
    // nothing if no worker can have it. The last result is cached, because a request is verified by
    // the same key that proves its reply.
    [[nodiscard]] std::optional<ucs::security::key> agree(
        const ucs::security::public_key& other) noexcept;
    // The packed address: the full one, or the one for other hosts.
    [[nodiscard]] const std::vector<std::byte>& address(bool net_only) const noexcept {
        return net_only ? net_address_ : full_address_;
    }
    // Packs both addresses, when the interfaces are open.
    void pack_addresses(const worker& owner);

private:
    struct agreement {
        ucs::security::public_key with;
        std::optional<ucs::security::key> key;
    };

    const ucs::security::key_pair keys_;
    const std::uint64_t uid_;
    std::optional<agreement> last_agreement_;
    std::vector<std::byte> full_address_;
    std::vector<std::byte> net_address_;
};

}  // namespace ucp
