#include "ucs/security/secret_stream.hpp"

#include "ucs/security/sodium.hpp"

namespace ucs::security {

namespace {

using state = crypto_secretstream_xchacha20poly1305_state;

static_assert(sizeof(state) <= stream_state::size && alignof(state) <= 16);
static_assert(stream_header_size == crypto_secretstream_xchacha20poly1305_HEADERBYTES);
static_assert(record_overhead == crypto_secretstream_xchacha20poly1305_ABYTES);
static_assert(key::size == crypto_secretstream_xchacha20poly1305_KEYBYTES);

state* libsodium_state(stream_state& owner) noexcept {
    return static_cast<state*>(owner.memory());
}

}  // namespace

stream_encryptor::stream_encryptor(const key& secret,
                                   std::span<std::byte, stream_header_size> header) noexcept {
    start_sodium();
    crypto_secretstream_xchacha20poly1305_init_push(libsodium_state(state_),
                                                    sodium_bytes(std::span<std::byte>(header)),
                                                    sodium_bytes(secret.data()));
}

void stream_encryptor::encrypt(bytes plain, bytes clear, std::byte* into) noexcept {
    crypto_secretstream_xchacha20poly1305_push(
        libsodium_state(state_), reinterpret_cast<unsigned char*>(into), nullptr,
        sodium_bytes(plain), plain.size(), sodium_bytes(clear), clear.size(),
        crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
}

stream_decryptor::stream_decryptor(const key& secret,
                                   std::span<const std::byte, stream_header_size> header) noexcept {
    start_sodium();
    static_cast<void>(crypto_secretstream_xchacha20poly1305_init_pull(
        libsodium_state(state_), sodium_bytes(header), sodium_bytes(secret.data())));
}

bool stream_decryptor::decrypt(bytes encrypted, bytes clear, std::byte* into) noexcept {
    if (encrypted.size() < record_overhead) return false;
    unsigned char purpose = 0;
    return crypto_secretstream_xchacha20poly1305_pull(
               libsodium_state(state_), reinterpret_cast<unsigned char*>(into), nullptr, &purpose,
               sodium_bytes(encrypted), encrypted.size(), sodium_bytes(clear), clear.size()) == 0 &&
           purpose == crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
}

}  // namespace ucs::security
