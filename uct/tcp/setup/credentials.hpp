// The secrets by which an interface proves its identity, and the terms that it demands of its
// peers.
#pragma once

#include <array>
#include <optional>

#include "ucs/security/key.hpp"
#include "ucs/security/key_pair.hpp"
#include "uct/tcp/setup/address.hpp"
#include "uct/tcp/wire.hpp"

namespace uct::tcp {

// Returns the secret in the address of an interface, as a key for exactly this address: with
// another port, for example, it is another key.
[[nodiscard]] ucs::security::key key_of_address(const address& whole) noexcept;

// Distinguishes addresses, also those that name the same interface, and does not reveal the secret.
using address_tag = ucs::security::tag;
[[nodiscard]] address_tag tag_of_address(const ucs::security::key& key_of_address) noexcept;

// Identity of an interface: its key pair. The interface id is the first 8 bytes of the public key.
// So a process that only knows the address of an interface cannot connect or accept in its name.
// Each side shows its public key, and a tag over the exchange under the key that only the owners of
// the two pairs can compute.
class identity {
public:
    // The other side has shown the public key `peer`. Returns nothing if that is not the key of the
    // interface with that id. `session` is the key of the exchange.
    [[nodiscard]] static std::optional<identity> agree(const ucs::security::key_pair& own,
                                                       const ucs::security::public_key& peer,
                                                       std::uint64_t peer_id,
                                                       const ucs::security::key& session) noexcept;
    // The tags of the two sides. The connecting side also shows the tag of its own address.
    [[nodiscard]] ucs::security::tag of_connecting(const address_tag& own_address) const noexcept;
    [[nodiscard]] ucs::security::tag of_accepting() const noexcept;
    // The key of this connection. Only the owners of the two key pairs can compute it.
    [[nodiscard]] ucs::security::key session_key() const noexcept;

private:
    explicit identity(const ucs::security::key& agreed) noexcept : agreed_(agreed) {}

    ucs::security::key agreed_;
};

// The credentials of one interface. Immutable once its address is set.
class credentials {
public:
    // `job_key` may be null if there is none.
    credentials(const ucs::security::key* job_key, bool encrypted) noexcept;

    // Must be called when the interface listens and its whole address is known.
    void set_address(const address& whole) noexcept;

    // The terms, which must be the same on both sides of a connection.
    [[nodiscard]] wire::terms terms() const noexcept { return terms_; }
    // The secret that is part of the packed address.
    [[nodiscard]] const ucs::security::worker_secret& secret() const noexcept { return secret_; }
    // See key_of_address(). Before set_address() it is the key of an address without ports.
    [[nodiscard]] const ucs::security::key& address_key() const noexcept { return address_key_; }
    [[nodiscard]] address_tag own_address_tag() const noexcept {
        return tag_of_address(address_key_);
    }
    [[nodiscard]] const ucs::security::key_pair& pair() const noexcept { return pair_; }
    // The id of the interface; never 0.
    [[nodiscard]] std::uint64_t id() const noexcept;
    // Returns the key of challenges for a connection to the interface whose address has this key.
    [[nodiscard]] ucs::security::key shared_key(
        const ucs::security::key& accepting_address) const noexcept;

private:
    const ucs::security::worker_secret secret_;
    const ucs::security::key_pair pair_;
    ucs::security::key address_key_;
    const std::optional<ucs::security::key> job_key_;
    const wire::terms terms_;
};

}  // namespace uct::tcp
