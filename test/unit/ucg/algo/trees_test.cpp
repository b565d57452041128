#include "ucg/algo/common/trees.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "ucg/algo/common/binomial.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/folding.hpp"

using namespace ucg::algo;

namespace {

// Ranks of a subtree in order: left, itself, right.
void collect(rank_t at, rank_t size, std::vector<rank_t>& into) {
    const tree_place place = in_order_tree(at, size);
    if (place.left != no_rank) collect(place.left, size, into);
    into.push_back(at);
    if (place.right != no_rank) collect(place.right, size, into);
}

}  // namespace

TEST_CASE("the binary tree is in order, has all ranks, and is not deep") {
    for (rank_t size = 1; size < 70; ++size) {
        std::vector<rank_t> found;
        collect(0, size, found);
        REQUIRE(found.size() == size);
        for (rank_t i = 0; i < size; ++i) {
            CHECK(found[i] == i);
            CHECK(in_order_depth(i, size) <= doublings(size) + 1);
            const tree_place place = in_order_tree(i, size);
            for (const rank_t child : {place.left, place.right})
                if (child != no_rank) CHECK(in_order_tree(child, size).parent == i);
        }
    }
}

TEST_CASE("who is inside one of two trees is a leaf of the other, but one at most") {
    for (rank_t size = 2; size < 70; ++size) {
        unsigned inside_both = 0;
        for (rank_t i = 0; i < size; ++i) {
            const tree_place one = in_order_tree(i, size);
            const tree_place other = shifted_tree(i, size);
            const bool in_one = one.left != no_rank || one.right != no_rank;
            const bool in_other = other.left != no_rank || other.right != no_rank;
            inside_both += in_one && in_other ? 1 : 0;
        }
        CHECK(inside_both <= 1);
    }
}

TEST_CASE("folded ranks are numbered in order and act for neighbours") {
    for (rank_t size = 1; size < 40; ++size) {
        rank_t next = 0;
        for (rank_t rank = 0; rank < size; ++rank) {
            const folding fold(rank, size);
            if (fold.gives()) {
                CHECK(fold.partner() == rank - 1);
                continue;
            }
            CHECK(fold.folded() == next++);
            CHECK(fold.real(fold.folded()) == rank);
        }
        CHECK(next == folding(0, size).ranks());
    }
}

TEST_CASE("pieces cover everything once") {
    for (std::uint64_t count : {0U, 1U, 7U, 64U, 100U}) {
        for (std::uint64_t pieces = 1; pieces < 12; ++pieces) {
            const cut of{count, pieces};
            CHECK(of.begin(0) == 0);
            CHECK(of.begin(pieces) == count);
            for (std::uint64_t i = 0; i < pieces; ++i)
                CHECK(of.size(i) <= of.longest());
        }
    }
}
