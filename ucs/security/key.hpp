// Secret keys: creation, derivation and erasure, and tags (message authentication codes) by which a
// sender proves that it knows a key. libsodium provides all cryptography.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace ucs::security {

using bytes = std::span<const std::byte>;

[[nodiscard]] inline bytes bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text));
}

// A symmetric key of 32 bytes, erased from memory when it is destroyed. Value type; any thread may
// read. Nothing prints a key.
class key {
public:
    static constexpr std::size_t size = 32;

    // Returns a new key from the kernel's random generator.
    [[nodiscard]] static key random() noexcept;

    // Returns the hash of a text as a key. The caller must check that the text is long enough to be
    // hard to guess.
    [[nodiscard]] static key from_text(std::string_view text) noexcept;

    // Derives a key for one purpose, such as "tcp connection", and one context. It reveals nothing
    // about `parent`, nor about keys for other purposes and contexts.
    [[nodiscard]] static key derive(const key& parent, std::string_view purpose,
                                    bytes context = {}) noexcept;

    // Derives a key that requires the knowledge of both keys.
    [[nodiscard]] static key combine(const key& first, const key& second) noexcept;

    key(const key&) noexcept = default;
    key& operator=(const key&) noexcept = default;
    ~key();

    [[nodiscard]] std::span<const std::byte, size> data() const noexcept { return data_; }

    // Takes the same time whether and wherever the keys differ.
    [[nodiscard]] bool operator==(const key& other) const noexcept;

private:
    friend class key_pair;
    friend class worker_secret;
    key() noexcept = default;

    std::array<std::byte, size> data_;
};

// A secret of 16 bytes in a worker's address. With it the worker proves its identity to peers, and
// a peer proves that it has received the address. Value type.
class worker_secret {
public:
    static constexpr std::size_t size = 16;

    [[nodiscard]] static worker_secret random() noexcept;
    [[nodiscard]] static worker_secret from_bytes(std::span<const std::byte, size> from) noexcept;

    worker_secret(const worker_secret&) noexcept = default;
    worker_secret& operator=(const worker_secret&) noexcept = default;
    ~worker_secret();

    [[nodiscard]] std::span<const std::byte, size> data() const noexcept { return data_; }
    [[nodiscard]] key as_key() const noexcept;
    [[nodiscard]] bool operator==(const worker_secret& other) const noexcept;

private:
    worker_secret() noexcept = default;

    std::array<std::byte, size> data_;
};

inline constexpr std::size_t tag_size = 16;
using tag = std::array<std::byte, tag_size>;

// Returns the tag of the fields under the key: keyed BLAKE2b over each field and its length, so
// that a different division into fields gives a different tag.
[[nodiscard]] tag authenticate(const key& secret, std::initializer_list<bytes> fields) noexcept;

// Takes the same time whether and wherever the tags differ.
[[nodiscard]] bool same_tag(std::span<const std::byte, tag_size> left,
                            std::span<const std::byte, tag_size> right) noexcept;

// Returns two hexadecimal digits for each byte: the text of a key for UCX_JOB_KEY. The caller must
// erase it.
[[nodiscard]] std::string hex_text(bytes from);

// Overwrites memory; the compiler cannot optimise the call away.
void erase(std::span<std::byte> memory) noexcept;

}  // namespace ucs::security
