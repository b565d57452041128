// Trees of ranks.
#pragma once

#include <bit>

#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

inline constexpr rank_t no_rank = ~rank_t{0};

// A rank's place in a binary tree.
struct tree_place {
    rank_t parent = no_rank;
    rank_t left = no_rank;
    rank_t right = no_rank;
};

// The place of `rank` in a binary tree over 0 … size - 1 that is in order: all ranks of a left
// subtree are lower, all of a right one higher. Rank 0 is the root and has a right subtree only;
// below it a rank lies the higher the more zeros its number ends in, and odd ranks are leaves.
// Where that rank does not exist, the nearest one below it takes its place.
[[nodiscard]] inline tree_place in_order_tree(rank_t rank, rank_t size) noexcept {
    tree_place made;
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

// How many steps a rank of that tree is away from the root.
[[nodiscard]] inline unsigned in_order_depth(rank_t rank, rank_t size) noexcept {
    unsigned depth = 0;
    for (rank_t at = rank; at != 0; at = in_order_tree(at, size).parent)
        ++depth;
    return depth;
}

// The second tree of a pair: numbers are shifted by one, so that whoever is inside the first tree
// is a leaf of the second, but for one rank where their number is odd.
[[nodiscard]] inline rank_t unshifted(rank_t rank, rank_t size) noexcept {
    return (rank + size - 1) % size;
}
[[nodiscard]] inline tree_place shifted_tree(rank_t rank, rank_t size) noexcept {
    const auto shifted = [&](rank_t r) { return r == no_rank ? no_rank : (r + 1) % size; };
    const tree_place base = in_order_tree(unshifted(rank, size), size);
    return {shifted(base.parent), shifted(base.left), shifted(base.right)};
}

}  // namespace ucg::algo
