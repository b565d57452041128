#include "ucg/schedule/placement.hpp"

#include <catch2/catch.hpp>

using namespace ucg::schedule;

TEST_CASE("ranks without node names each have their own node") {
    const placement all(5);
    CHECK(all.ranks() == 5);
    CHECK(all.nodes() == 5);
    CHECK(all.max_ranks_per_node() == 1);
    CHECK(all.is_in_order());
    for (rank_t rank = 0; rank < 5; ++rank) {
        CHECK(all.node_of(rank) == rank);
        CHECK(all.index_of(rank) == 0);
    }
}

TEST_CASE("nodes are numbered by their lowest rank and may be of any size") {
    const std::uint64_t names[] = {7, 3, 7, 9, 3, 7};
    const placement all(names);
    CHECK(all.nodes() == 3);
    CHECK(all.min_ranks_per_node() == 1);
    CHECK(all.max_ranks_per_node() == 3);
    CHECK_FALSE(all.is_in_order());
    CHECK(all.ranks_on(0).size() == 3);
    CHECK(all.at(0, 2) == 5);
    CHECK(all.at(1, 1) == 4);
    CHECK(all.at(2, 0) == 3);
    for (rank_t rank = 0; rank < 6; ++rank)
        CHECK(all.at(all.node_of(rank), all.index_of(rank)) == rank);
}

TEST_CASE("nodes with contiguous ranks are in order") {
    const std::uint64_t together[] = {4, 4, 1, 2, 2};
    CHECK(placement(together).is_in_order());
    const std::uint64_t back[] = {4, 1, 4};
    CHECK_FALSE(placement(back).is_in_order());
}
