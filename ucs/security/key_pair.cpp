#include "ucs/security/key_pair.hpp"

#include <algorithm>

#include "ucs/security/sodium.hpp"

namespace ucs::security {

static_assert(crypto_scalarmult_BYTES == std::tuple_size_v<public_key>);
static_assert(crypto_box_PUBLICKEYBYTES == std::tuple_size_v<public_key>);
static_assert(crypto_box_SECRETKEYBYTES == 32);

key_pair key_pair::random() noexcept {
    start_sodium();
    key_pair made;
    crypto_box_keypair(sodium_bytes(std::span<std::byte>(made.public_half_)),
                       sodium_bytes(std::span<std::byte>(made.private_)));
    return made;
}

key_pair::~key_pair() {
    erase(private_);
}

std::optional<key> key_pair::agree(const public_key& other) const noexcept {
    std::array<std::byte, crypto_scalarmult_BYTES> point;
    if (crypto_scalarmult(sodium_bytes(std::span<std::byte>(point)),
                          sodium_bytes(std::span<const std::byte>(private_)),
                          sodium_bytes(std::span<const std::byte>(other))) != 0) {
        return std::nullopt;
    }
    // Both sides hash the two public keys in the same order.
    const bool first = public_half_ < other;
    key made;
    framed_hash({}, key::size)
        .add(bytes_of("hawser agreed key"))
        .add(point)
        .add(first ? public_half_ : other)
        .add(first ? other : public_half_)
        .finish(made.data_);
    erase(point);
    return made;
}

}  // namespace ucs::security
