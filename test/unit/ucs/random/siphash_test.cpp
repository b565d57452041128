#include "ucs/random/siphash.hpp"

#include <catch2/catch.hpp>

TEST_CASE("the keyed hash is SipHash-2-4") {
    // From the reference's table: key 00 01 .. 0f, message 00 01 .. 07.
    constexpr ucs::sys::hash_key key{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
    CHECK(ucs::sys::siphash(key, 0x0706050403020100U) == 0x93f5f5799a932462U);
}
