// The secrets with which an interface proves its identity, and its demands on its peers.
#pragma once

#include <array>
#include <optional>

#include "ucs/security/key_pair.hpp"
#include "ucs/security/mac.hpp"
#include "uct/tcp/address.hpp"
#include "uct/tcp/wire.hpp"

namespace uct::tcp {

// The secret in the address of an interface, as a key that holds for exactly this address: with
// another port, for example, it is another key.
[[nodiscard]] ucs::security::key key_of_address(const address& whole) noexcept;

// Tells addresses apart, also those that name the same interface, and does not tell the secret.
using address_tag = ucs::security::tag;
[[nodiscard]] address_tag tag_of_address(const ucs::security::key& key_of_address) noexcept;

// Identity of an interface: it owns a key pair. Its id is the first 8 bytes of the public half, so
// that nobody can connect or accept in the name of another interface, whoever knows the address of
// that one. Each side shows its public half, and a tag over the exchange under the key that only
// the owners of the two pairs can compute.
class identity {
public:
    // The other side has shown `peer`; nothing when that is not the public key of the interface
    // with that id. `session` is the key of the exchange.
    [[nodiscard]] static std::optional<identity> agree(const ucs::security::key_pair& own,
                                                       const ucs::security::public_key& peer,
                                                       std::uint64_t peer_id,
                                                       const ucs::security::key& session) noexcept;
    // The tags of the two sides. The side that connects shows the tag of its own address as well.
    [[nodiscard]] ucs::security::tag of_connecting(const address_tag& own_address) const noexcept;
    [[nodiscard]] ucs::security::tag of_accepting() const noexcept;
    // The key of this connection, which nobody else can compute, whatever else it knows.
    [[nodiscard]] ucs::security::key session_key() const noexcept;

private:
    explicit identity(const ucs::security::key& agreed) noexcept : agreed_(agreed) {}

    ucs::security::key agreed_;
};

// The credentials of one interface; immutable as soon as its address is known.
class credentials {
public:
    // `job_key` may be null: there is none.
    credentials(const ucs::security::key* job_key, bool encrypted) noexcept;

    // The interface listens, and this is its whole address.
    void set_address(const address& whole) noexcept;

    // The terms that both sides of a connection must have in common.
    [[nodiscard]] wire::terms terms() const noexcept { return terms_; }
    // Goes into the packed address.
    [[nodiscard]] const ucs::security::worker_secret& secret() const noexcept { return secret_; }
    // See key_of_address(); of an address without ports before set_address().
    [[nodiscard]] const ucs::security::key& address_key() const noexcept { return address_key_; }
    [[nodiscard]] address_tag own_address_tag() const noexcept {
        return tag_of_address(address_key_);
    }
    [[nodiscard]] const ucs::security::key_pair& pair() const noexcept { return pair_; }
    // The id of the interface; never 0.
    [[nodiscard]] std::uint64_t id() const noexcept;
    // The key of challenges where the interface accepts whose address has this key.
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
