// The secrets with which an interface proves its identity, and its demands on its peers.
#pragma once

#include <array>
#include <optional>

#include "ucs/security/mac.hpp"
#include "uct/tcp/wire.hpp"

namespace uct::tcp {

// The secret in the packed address of an interface, as a key.
[[nodiscard]] ucs::security::key key_of_secret(
    std::span<const std::byte, ucs::security::worker_secret::size> secret) noexcept;

// Shows that the side that connected is the interface that its hello names, to whoever has the
// packed address of that interface, now or later: a tag over the exchange, made with the secret.
struct identity_claim {
    std::array<std::byte, ucs::security::tag_size> exchange;  // what the tag is made over
    ucs::security::tag made;

    [[nodiscard]] static identity_claim make(const ucs::security::key& secret,
                                             const ucs::security::key& session) noexcept;
    // The tag as it came from the peer, for the exchange in which it came.
    [[nodiscard]] static identity_claim received(
        std::span<const std::byte, ucs::security::tag_size> made,
        const ucs::security::key& session) noexcept;
    [[nodiscard]] bool holds_for(const ucs::security::key& secret) const noexcept;
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
    // The key of challenges where the interface with `accepting_secret` accepts.
    [[nodiscard]] ucs::security::key shared_key(
        const ucs::security::key& accepting_secret) const noexcept;

private:
    const ucs::security::worker_secret secret_;
    const ucs::security::key secret_key_;
    const std::optional<ucs::security::key> job_key_;
    const wire::terms terms_;
};

}  // namespace uct::tcp
