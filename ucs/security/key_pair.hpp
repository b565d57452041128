// X25519 key pairs: the owners of two pairs agree on a key that no other party can compute.
#pragma once

#include <array>
#include <optional>

#include "ucs/security/key.hpp"

namespace ucs::security {

// The public half of a pair.
using public_key = std::array<std::byte, 32>;

// A pair whose private half is erased from memory when it is destroyed. Any thread may read.
class key_pair {
public:
    // Returns a new pair from the kernel's random generator.
    [[nodiscard]] static key_pair random() noexcept;

    key_pair(const key_pair&) noexcept = default;
    key_pair& operator=(const key_pair&) noexcept = default;
    ~key_pair();

    [[nodiscard]] const public_key& public_half() const noexcept { return public_half_; }

    // Returns the key that only the owners of the two pairs can compute, the same on both sides.
    // Returns nullopt if `other` is not a valid public key. Takes about 50 microseconds.
    [[nodiscard]] std::optional<key> agree(const public_key& other) const noexcept;

private:
    key_pair() noexcept = default;

    std::array<std::byte, 32> private_;
    public_key public_half_;
};

}  // namespace ucs::security
