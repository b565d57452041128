#include "ucg/algo/common/trees.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "ucg/algo/common/binomial.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/folding.hpp"

using namespace ucg::algo;

namespace {

// Collects the ranks of a subtree in order: left subtree, the rank itself, right subtree.
void collect(rank_t rank, rank_t size, std::vector<rank_t>& into) {
    const tree_links links = in_order_tree(rank, size);
    if (links.left != no_rank) collect(links.left, size, into);
    into.push_back(rank);
    if (links.right != no_rank) collect(links.right, size, into);
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
            const tree_links place = in_order_tree(i, size);
            for (const rank_t child : {place.left, place.right})
                if (child != no_rank) CHECK(in_order_tree(child, size).parent == i);
        }
    }
}

TEST_CASE("an inner rank of one of two trees is a leaf of the other, with at most one exception") {
    for (rank_t size = 2; size < 70; ++size) {
        unsigned inside_both = 0;
        for (rank_t i = 0; i < size; ++i) {
            const tree_links one = in_order_tree(i, size);
            const tree_links other = shifted_tree(i, size);
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
            if (fold.sends_to_partner()) {
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
            const cut pieces_cut{count, pieces};
            CHECK(pieces_cut.begin(0) == 0);
            CHECK(pieces_cut.begin(pieces) == count);
            for (std::uint64_t i = 0; i < pieces; ++i)
                CHECK(pieces_cut.size(i) <= pieces_cut.longest());
        }
    }
}
