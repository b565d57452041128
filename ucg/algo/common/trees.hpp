// Binary trees of ranks.
#pragma once

#include <bit>

#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

inline constexpr rank_t no_rank = ~rank_t{0};

// Parent and children of a rank in a binary tree.
struct tree_links {
    rank_t parent = no_rank;
    rank_t left = no_rank;
    rank_t right = no_rank;
};

// Returns the links of `rank` in the in-order binary tree over 0 … size - 1: all ranks of a left
// subtree are lower, all ranks of a right subtree higher. Rank 0 is the root and has a right
// subtree only. Below it, a rank is the higher in the tree the more zeros its binary number ends
// in; odd ranks are leaves. If a rank of the complete tree does not exist, the nearest existing
// rank below it replaces it.
[[nodiscard]] inline tree_links in_order_tree(rank_t rank, rank_t size) noexcept {
    tree_links made;
    if (rank == 0) {
        if (size > 1) made.right = std::bit_floor(size - 1);
        return made;
    }
    const rank_t unit = rank & (~rank + 1);
    const rank_t above = (rank & ~unit) | (unit << 1U);
    made.parent = above < size ? above : rank & ~unit;
    if (unit > 1) made.left = rank - unit / 2;
    for (rank_t down = unit / 2; down != 0 && made.right == no_rank; down /= 2)
        if (rank + down < size) made.right = rank + down;
    return made;
}

// Returns the depth of a rank in the in-order tree.
[[nodiscard]] inline unsigned in_order_depth(rank_t rank, rank_t size) noexcept {
    unsigned depth = 0;
    for (rank_t node = rank; node != 0; node = in_order_tree(node, size).parent)
        ++depth;
    return depth;
}

// The second tree of a double tree: ranks are shifted by one, so that an inner rank of the first
// tree is a leaf of the second. If the number of ranks is odd, one rank is an exception.
[[nodiscard]] inline rank_t unshifted(rank_t rank, rank_t size) noexcept {
    return (rank + size - 1) % size;
}
[[nodiscard]] inline tree_links shifted_tree(rank_t rank, rank_t size) noexcept {
    const auto shifted = [&](rank_t r) { return r == no_rank ? no_rank : (r + 1) % size; };
    const tree_links base = in_order_tree(unshifted(rank, size), size);
    return {shifted(base.parent), shifted(base.left), shifted(base.right)};
}

}  // namespace ucg::algo
