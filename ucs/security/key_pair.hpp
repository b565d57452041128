// Key pairs of X25519: the owners of two pairs compute the same key, which nobody else can.
#pragma once

#include <array>
#include <optional>

#include "ucs/security/key.hpp"

namespace ucs::security {

// The half of a pair that others are told.
using public_key = std::array<std::byte, 32>;

// A pair whose private half is erased from memory when it is destroyed. Any thread may read.
class key_pair {
public:
    // A pair that nobody else has, from the kernel's random generator.
    [[nodiscard]] static key_pair random() noexcept;

    key_pair(const key_pair&) noexcept = default;
    key_pair& operator=(const key_pair&) noexcept = default;
    ~key_pair();

    [[nodiscard]] const public_key& open() const noexcept { return open_; }

    // The key that only the owners of this pair and of the other one can compute, the same on both
    // sides; nothing when the other half is none that a pair has. Takes some 50 microseconds.
    [[nodiscard]] std::optional<key> agree(const public_key& other) const noexcept;

private:
    key_pair() noexcept = default;

    std::array<std::byte, 32> private_;
    public_key open_;
};

}  // namespace ucs::security
