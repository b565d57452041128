#include "uct/tcp/setup/credentials.hpp"

#include <algorithm>

#include "ucs/wire/codec.hpp"

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
    return ucs::wire::reader(open).get<std::uint64_t>();
}

// No interface has the id 0.
key_pair pair_with_id() noexcept {
    for (;;) {
        const key_pair made = key_pair::random();
        if (id_of(made.public_half()) != 0) return made;
    }
}

}  // namespace

key key_of_address(const address& whole) noexcept {
    std::array<std::byte, address::max_size> packed;
    const std::span<std::byte> used = std::span(packed).first(whole.packed_size());
    whole.pack(used);
    return key::derive(ucs::security::worker_secret::from_bytes(whole.secret).as_key(),
                       "hawser tcp", used);
}

address_tag tag_of_address(const key& key_of_address) noexcept {
    return ucs::security::authenticate(key_of_address, {bytes_of("hawser tcp address")});
}

std::optional<identity> identity::agree(const key_pair& own, const ucs::security::public_key& peer,
                                        std::uint64_t peer_id, const key& session) noexcept {
    if (id_of(peer) != peer_id) return std::nullopt;
    const std::optional<key> agreed = own.agree(peer);
    if (!agreed) return std::nullopt;
    return identity(key::combine(*agreed, session));
}

ucs::security::tag identity::of_connecting(const address_tag& own_address) const noexcept {
    return ucs::security::authenticate(agreed_, {bytes_of("hawser tcp connecting"), own_address});
}

ucs::security::tag identity::of_accepting() const noexcept {
    return ucs::security::authenticate(agreed_, {bytes_of("hawser tcp accepting")});
}

key identity::session_key() const noexcept {
    return key::derive(agreed_, "hawser tcp session");
}

std::uint64_t credentials::id() const noexcept {
    return id_of(pair_.public_half());
}

credentials::credentials(const key* job_key, bool encrypted) noexcept
    : secret_(ucs::security::worker_secret::random()),
      pair_(pair_with_id()),
      address_key_(secret_.as_key()),
      job_key_(tcp_key(job_key)),
      terms_{job_key != nullptr, encrypted} {
    address without_ports;
    without_ports.iface_id = id();
    std::ranges::copy(secret_.data(), without_ports.secret.begin());
    set_address(without_ports);
}

void credentials::set_address(const address& whole) noexcept {
    address_key_ = key_of_address(whole);
}

key credentials::shared_key(const key& accepting_address) const noexcept {
    return job_key_ ? key::combine(*job_key_, accepting_address) : accepting_address;
}

}  // namespace uct::tcp
