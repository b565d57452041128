#include "uct/tcp/credentials.hpp"

#include <algorithm>

namespace uct::tcp {

using ucs::security::bytes_of;
using ucs::security::key;

namespace {

std::optional<key> tcp_key(const key* job_key) noexcept {
    if (job_key == nullptr) return std::nullopt;
    return key::derive(*job_key, "hawser tcp");
}

ucs::security::tag exchange_of(const key& session) noexcept {
    return ucs::security::authenticate(session, {bytes_of("hawser tcp exchange")});
}

ucs::security::tag identity_tag(const key& secret, const ucs::security::tag& exchange) noexcept {
    return ucs::security::authenticate(secret, {bytes_of("hawser tcp identity"), exchange});
}

}  // namespace

key key_of_secret(std::span<const std::byte, ucs::security::worker_secret::size> secret) noexcept {
    return key::derive(ucs::security::worker_secret::from_bytes(secret).as_key(), "hawser tcp");
}

identity_claim identity_claim::make(const key& secret, const key& session) noexcept {
    const ucs::security::tag exchange = exchange_of(session);
    return {exchange, identity_tag(secret, exchange)};
}

identity_claim identity_claim::received(std::span<const std::byte, ucs::security::tag_size> made,
                                        const key& session) noexcept {
    identity_claim claim{exchange_of(session), {}};
    std::copy(made.begin(), made.end(), claim.made.begin());
    return claim;
}

bool identity_claim::holds_for(const key& secret) const noexcept {
    return ucs::security::same_tag(made, identity_tag(secret, exchange));
}

credentials::credentials(const key* job_key, bool encrypted) noexcept
    : secret_(ucs::security::worker_secret::random()),
      secret_key_(key_of_secret(secret_.data())),
      job_key_(tcp_key(job_key)),
      terms_{job_key != nullptr, encrypted} {}

key credentials::shared_key(const key& accepting_secret) const noexcept {
    return job_key_ ? key::combine(*job_key_, accepting_secret) : accepting_secret;
}

}  // namespace uct::tcp
