// A stream of encrypted records in one direction: crypto_secretstream_xchacha20poly1305 of
// libsodium. A record that was changed, dropped, repeated or moved fails to decrypt, and so does
// any that follows it.
#pragma once

#include <optional>

#include "ucs/security/key.hpp"

namespace ucs::security {

inline constexpr std::size_t stream_header_size = 24;
inline constexpr std::size_t record_overhead = 17;  // of ciphertext over plaintext

// State of libsodium, which only the source knows.
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
    // Writes the header, which goes to the other side before the first record.
    stream_encryptor(const key& with, std::span<std::byte, stream_header_size> header) noexcept;

    // Writes plain.size() + record_overhead bytes to `into`. `clear` is sent beside the record as
    // it is, and protected against changes.
    void encrypt(bytes plain, bytes clear, std::byte* into) noexcept;

private:
    stream_state state_;
};

// Decrypts. Used by one thread.
class stream_decryptor {
public:
    // `header` is untrusted: a wrong one shows when the first record fails to decrypt.
    stream_decryptor(const key& with,
                     std::span<const std::byte, stream_header_size> header) noexcept;

    // Writes encrypted.size() - record_overhead bytes to `into`. False: this is not the next record
    // of the stream; `into` holds nothing of use, and nothing more can be decrypted.
    [[nodiscard]] bool decrypt(bytes encrypted, bytes clear, std::byte* into) noexcept;

private:
    stream_state state_;
};

}  // namespace ucs::security
