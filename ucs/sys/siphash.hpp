// A keyed hash that nobody can predict who does not know the key.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ucs::sys {

using hash_key = std::array<std::uint64_t, 2>;

// SipHash-2-4 (Aumasson, Bernstein) of one number: who sees any number of results cannot tell the
// next one.
[[nodiscard]] constexpr std::uint64_t siphash(const hash_key& key, std::uint64_t of) noexcept {
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
    constexpr std::uint64_t length = std::uint64_t{sizeof of} << 56;
    for (const std::uint64_t block : {of, length}) {
        d ^= block;
        rounds(2);
        a ^= block;
    }
    c ^= 0xff;
    rounds(4);
    return a ^ b ^ c ^ d;
}

}  // namespace ucs::sys
