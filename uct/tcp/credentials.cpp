#include "uct/tcp/credentials.hpp"

#include "uct/tcp/bytes.hpp"

namespace uct::tcp {

using ucs::security::bytes_of;
using ucs::security::key;
using ucs::security::key_pair;

namespace {

std::optional<key> tcp_key(const key* job_key) noexcept {
    if (job_key == nullptr) return std::nullopt;
    return key::derive(*job_key, "hawser tcp");
}

std::uint64_t id_of(const ucs::security::public_key& open) noexcept {
    return field_reader(open).get<std::uint64_t>();
}

// No interface has the id 0.
key_pair pair_with_id() noexcept {
    for (;;) {
        const key_pair made = key_pair::random();
        if (id_of(made.open()) != 0) return made;
    }
}

}  // namespace

key key_of_secret(std::span<const std::byte, ucs::security::worker_secret::size> secret) noexcept {
    return key::derive(ucs::security::worker_secret::from_bytes(secret).as_key(), "hawser tcp");
}

std::optional<identity> identity::agree(const key_pair& own, const ucs::security::public_key& peer,
                                        std::uint64_t peer_id, const key& session) noexcept {
    if (id_of(peer) != peer_id) return std::nullopt;
    const std::optional<key> agreed = own.agree(peer);
    if (!agreed) return std::nullopt;
    return identity(key::combine(*agreed, session));
}

ucs::security::tag identity::of_connecting() const noexcept {
    return ucs::security::authenticate(agreed_, {bytes_of("hawser tcp connecting")});
}

ucs::security::tag identity::of_accepting() const noexcept {
    return ucs::security::authenticate(agreed_, {bytes_of("hawser tcp accepting")});
}

key identity::session_key() const noexcept {
    return key::derive(agreed_, "hawser tcp session");
}

std::uint64_t credentials::id() const noexcept {
    return id_of(pair_.open());
}

credentials::credentials(const key* job_key, bool encrypted) noexcept
    : secret_(ucs::security::worker_secret::random()),
      pair_(pair_with_id()),
      secret_key_(key_of_secret(secret_.data())),
      job_key_(tcp_key(job_key)),
      terms_{job_key != nullptr, encrypted} {}

key credentials::shared_key(const key& accepting_secret) const noexcept {
    return job_key_ ? key::combine(*job_key_, accepting_secret) : accepting_secret;
}

}  // namespace uct::tcp
