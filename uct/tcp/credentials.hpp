// The secrets with which an interface proves its identity, and its demands on its peers.
#pragma once

#include <array>
#include <optional>

#include "ucs/security/key_pair.hpp"
#include "ucs/security/mac.hpp"
#include "uct/tcp/wire.hpp"

namespace uct::tcp {

// The secret in the packed address of an interface, as a key.
[[nodiscard]] ucs::security::key key_of_secret(
    std::span<const std::byte, ucs::security::worker_secret::size> secret) noexcept;

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
    // The tags of the two sides.
    [[nodiscard]] ucs::security::tag of_connecting() const noexcept;
    [[nodiscard]] ucs::security::tag of_accepting() const noexcept;
    // The key of this connection, which nobody else can compute, whatever else it knows.
    [[nodiscard]] ucs::security::key session_key() const noexcept;

private:
    explicit identity(const ucs::security::key& agreed) noexcept : agreed_(agreed) {}

    ucs::security::key agreed_;
};

// The credentials of one interface; immutable while it is open.
class credentials {
public:
    // `job_key` may be null: there is none.
    credentials(const ucs::security::key* job_key, bool encrypted) noexcept;

    // The terms that both sides of a connection must have in common.
    [[nodiscard]] wire::terms terms() const noexcept { return terms_; }
    // Goes into the packed address.
    [[nodiscard]] const ucs::security::worker_secret& secret() const noexcept { return secret_; }
    [[nodiscard]] const ucs::security::key& secret_key() const noexcept { return secret_key_; }
    [[nodiscard]] const ucs::security::key_pair& pair() const noexcept { return pair_; }
    // The id of the interface; never 0.
    [[nodiscard]] std::uint64_t id() const noexcept;
    // The key of challenges where the interface with `accepting_secret` accepts.
    [[nodiscard]] ucs::security::key shared_key(
        const ucs::security::key& accepting_secret) const noexcept;

private:
    const ucs::security::worker_secret secret_;
    const ucs::security::key_pair pair_;
    const ucs::security::key secret_key_;
    const std::optional<ucs::security::key> job_key_;
    const wire::terms terms_;
};

}  // namespace uct::tcp
