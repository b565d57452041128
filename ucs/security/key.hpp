// Secret keys: making, deriving and forgetting them. All cryptography is libsodium's.
#pragma once

#include <array>
#include <cstddef>
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

    // A key that nobody knows, from the kernel's random generator.
    [[nodiscard]] static key random() noexcept;

    // The key that a text stands for, by hashing it. The caller checks that the text is long enough
    // to be hard to guess.
    [[nodiscard]] static key from_text(std::string_view text) noexcept;

    // A key for one purpose, such as "tcp connection", and for what `context` names. It tells
    // nothing about `parent`, nor about keys for other purposes and contexts.
    [[nodiscard]] static key derive(const key& parent, std::string_view purpose,
                                    bytes context = {}) noexcept;

    // A key that only those who know both keys can compute.
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

// A secret of 16 bytes that travels in a worker's address: whoever answers for that address proves
// with it that it is this worker, and whoever got the address proves so to the worker. Value type.
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

// Hexadecimal digits, two for each byte: the text of a key, for UCX_JOB_KEY. The caller erases it.
[[nodiscard]] std::string hex_text(bytes from);

// Overwrites memory in a way that the compiler does not leave out.
void erase(std::span<std::byte> memory) noexcept;

}  // namespace ucs::security
