#include "ucs/security/key_pair.hpp"

#include <catch2/catch.hpp>

using ucs::security::key_pair;
using ucs::security::public_key;

TEST_CASE("two owners of key pairs agree on a key that is another one with others") {
    const key_pair ours = key_pair::random();
    const key_pair theirs = key_pair::random();
    const key_pair third = key_pair::random();
    REQUIRE(ours.open() != theirs.open());
    const auto agreed = ours.agree(theirs.open());
    REQUIRE(agreed);
    CHECK(*agreed == *theirs.agree(ours.open()));
    CHECK_FALSE(*agreed == *ours.agree(third.open()));
    CHECK_FALSE(*agreed == *third.agree(theirs.open()));
    CHECK(ours.agree(ours.open()));
}

TEST_CASE("nobody agrees on a key with a public key that no pair has") {
    const key_pair ours = key_pair::random();
    public_key small{};
    CHECK_FALSE(ours.agree(small));
    small[0] = std::byte{1};
    CHECK_FALSE(ours.agree(small));
}
