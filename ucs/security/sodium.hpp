// Initialisation of libsodium, and adapters for its argument types. Only sources in this folder
// include it.
#pragma once

#include <sodium.h>

#include <cstddef>
#include <span>

namespace ucs::security {

// Initialises libsodium, which must happen before it provides random bytes. Later calls do nothing.
// Any thread.
inline void start_sodium() noexcept {
    static const int started = sodium_init();
    static_cast<void>(started);
}

[[nodiscard]] inline unsigned char* sodium_bytes(std::span<std::byte> memory) noexcept {
    return reinterpret_cast<unsigned char*>(memory.data());
}
[[nodiscard]] inline const unsigned char* sodium_bytes(std::span<const std::byte> memory) noexcept {
    return reinterpret_cast<const unsigned char*>(memory.data());
}

// BLAKE2b over fields, each preceded by its length in 8 bytes. Leaves no copy of the fields in
// memory. Owner: one function call.
class framed_hash {
public:
    // Starts a hash of `length` bytes, keyed unless `key` is empty.
    framed_hash(std::span<const std::byte> key, std::size_t length) noexcept : length_(length) {
        crypto_generichash_init(&state_, key.empty() ? nullptr : sodium_bytes(key), key.size(),
                                length);
    }
    framed_hash(const framed_hash&) = delete;
    framed_hash& operator=(const framed_hash&) = delete;
    ~framed_hash() {
        sodium_memzero(&state_, sizeof state_);
        // Some of libsodium's implementations of BLAKE2b copy the fields to their own stack frames.
        constexpr std::size_t deepest_frames = 2048;
        sodium_stackzero(deepest_frames);
    }

    framed_hash& add(std::span<const std::byte> field) noexcept {
        unsigned char framing[8];
        for (unsigned i = 0; i < sizeof framing; ++i)
            framing[i] = static_cast<unsigned char>(field.size() >> (8 * i));
        crypto_generichash_update(&state_, framing, sizeof framing);
        crypto_generichash_update(&state_, sodium_bytes(field), field.size());
        return *this;
    }
    void finish(std::span<std::byte> into) noexcept {
        crypto_generichash_final(&state_, sodium_bytes(into), length_);
    }

private:
    crypto_generichash_state state_;
    const std::size_t length_;
};

}  // namespace ucs::security
