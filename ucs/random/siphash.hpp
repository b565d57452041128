// Keyed hashes that are unpredictable without the key.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ucs/random/random_bytes.hpp"

namespace ucs::sys {

using hash_key = std::array<std::uint64_t, 2>;

// Returns a random key, for hashes of values that peers choose.
[[nodiscard]] inline hash_key random_hash_key() noexcept {
    hash_key made;
    random_bytes(made.data(), sizeof made);
    return made;
}

// SipHash-2-4 (Aumasson, Bernstein) of one number. An observer of any number of results cannot
// predict the next one.
[[nodiscard]] constexpr std::uint64_t siphash(const hash_key& key, std::uint64_t number) noexcept {
    std::uint64_t a = key[0] ^ 0x736f6d6570736575U;
    std::uint64_t b = key[1] ^ 0x646f72616e646f6dU;
    std::uint64_t c = key[0] ^ 0x6c7967656e657261U;
    std::uint64_t d = key[1] ^ 0x7465646279746573U;
    const auto rounds = [&](int count) {
        for (; count > 0; --count) {
            a += b, c += d;
            b = std::rotl(b, 13) ^ a;
            d = std::rotl(d, 16) ^ c;
            a = std::rotl(a, 32);
            c += b, a += d;
            b = std::rotl(b, 17) ^ c;
            d = std::rotl(d, 21) ^ a;
            c = std::rotl(c, 32);
        }
    };
    constexpr std::uint64_t length = std::uint64_t{sizeof number} << 56;
    for (const std::uint64_t block : {number, length}) {
        d ^= block;
        rounds(2);
        a ^= block;
    }
    c ^= 0xff;
    rounds(4);
    return a ^ b ^ c ^ d;
}

// A hash for tables whose results stay in the process, as fast as two multiplications. Without the
// key a peer has no known method to choose numbers that collide. If a peer could see results, it
// could find the key; use siphash() then. The folded product is that of wyhash (Wang Yi).
[[nodiscard]] constexpr std::uint64_t quick_hash(const hash_key& key,
                                                 std::uint64_t number) noexcept {
    const auto fold = [](std::uint64_t a, std::uint64_t b) {
        __extension__ using wide = unsigned __int128;
        const wide product = static_cast<wide>(a) * b;
        return static_cast<std::uint64_t>(product ^ (product >> 64));
    };
    // The key hides which numbers collide. The constant, from the golden ratio, spreads numbers at
    // equal distances.
    return fold(fold(number ^ key[0], key[1] | 1), 0x9e3779b97f4a7c15U);
}

}  // namespace ucs::sys
