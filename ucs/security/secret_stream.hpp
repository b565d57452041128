// A stream of encrypted records in one direction: crypto_secretstream_xchacha20poly1305 of
// libsodium. If a record was changed, dropped, repeated or reordered, decryption fails for it and
// all later records.
#pragma once

#include <optional>

#include "ucs/security/key.hpp"

namespace ucs::security {

inline constexpr std::size_t stream_header_size = 24;
inline constexpr std::size_t record_overhead = 17;  // extra bytes of the ciphertext

// Opaque storage for libsodium's state, whose type only the .cpp file uses.
class stream_state {
public:
    stream_state() noexcept = default;
    stream_state(const stream_state&) = delete;
    stream_state& operator=(const stream_state&) = delete;
    ~stream_state() { erase(memory_); }
    [[nodiscard]] void* memory() noexcept { return memory_.data(); }

    static constexpr std::size_t size = 64;

private:
    alignas(16) std::array<std::byte, size> memory_;
};

// Encrypts. Used by one thread.
class stream_encryptor {
public:
    // Writes the header, which the caller must send before the first record.
    stream_encryptor(const key& secret, std::span<std::byte, stream_header_size> header) noexcept;

    // Writes plain.size() + record_overhead bytes to `into`. `clear` is data that the caller sends
    // unencrypted with the record; it is authenticated as well.
    void encrypt(bytes plain, bytes clear, std::byte* into) noexcept;

private:
    stream_state state_;
};

// Decrypts. Used by one thread.
class stream_decryptor {
public:
    // `header` is untrusted: with a wrong one the first record fails to decrypt.
    stream_decryptor(const key& secret,
                     std::span<const std::byte, stream_header_size> header) noexcept;

    // Writes encrypted.size() - record_overhead bytes to `into`. Returns false if this is not the
    // next record of the stream; the content of `into` is then undefined, and no later record can
    // be decrypted.
    [[nodiscard]] bool decrypt(bytes encrypted, bytes clear, std::byte* into) noexcept;

private:
    stream_state state_;
};

}  // namespace ucs::security
