#include "ucg/core/group_ids.hpp"

#include <catch2/catch.hpp>

using ucg::group_ids;

TEST_CASE("group ids: numbers are reused as late as possible") {
    group_ids ids;
    for (std::uint32_t expected = 0; expected < group_ids::none; ++expected) {
        const std::uint32_t id = ids.propose();
        REQUIRE(id == expected);
        REQUIRE(ids.settle(id, id));
        if (expected != 5) ids.release(id);
    }
    CHECK(ids.propose() == 0);  // wraps around
    CHECK(ids.propose(5) == 6);
    CHECK(ids.propose(group_ids::none) == group_ids::none);
}

TEST_CASE("group ids: the agreed number replaces the proposed one, if it is free") {
    group_ids ids;
    CHECK(ids.propose() == 0);
    CHECK(ids.settle(0, 7));
    CHECK(ids.propose() == 8);
    CHECK_FALSE(ids.settle(8, 7));  // taken; the proposal is free again
    CHECK(ids.propose(8) == 8);
    CHECK(ids.settle(group_ids::none, 3));  // nothing was proposed
    CHECK(ids.propose() == 4);
    CHECK_FALSE(ids.settle(4, group_ids::none + 5));
}

TEST_CASE("group ids: the search ends after the last number") {
    group_ids ids;
    REQUIRE(ids.settle(group_ids::none, group_ids::none - 2));
    CHECK(ids.propose() == group_ids::none - 1);
    CHECK(ids.propose() == group_ids::none);
    CHECK(ids.propose(0) == 0);
}
