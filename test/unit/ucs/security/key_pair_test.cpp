#include "ucs/security/key_pair.hpp"

#include <catch2/catch.hpp>

using namespace ucs::security;

TEST_CASE("two owners of key pairs agree on a key that differs from keys with others") {
    const key_pair ours = key_pair::random();
    const key_pair peer = key_pair::random();
    const key_pair third = key_pair::random();
    REQUIRE(ours.public_half() != peer.public_half());
    const auto agreed = ours.agree(peer.public_half());
    REQUIRE(agreed);
    CHECK(*agreed == *peer.agree(ours.public_half()));
    CHECK_FALSE(*agreed == *ours.agree(third.public_half()));
    CHECK_FALSE(*agreed == *third.agree(peer.public_half()));
    CHECK(ours.agree(ours.public_half()));
}

TEST_CASE("agreement with an invalid public key fails") {
    const key_pair ours = key_pair::random();
    public_key small{};
    CHECK_FALSE(ours.agree(small));
    small[0] = std::byte{1};
    CHECK_FALSE(ours.agree(small));
}
