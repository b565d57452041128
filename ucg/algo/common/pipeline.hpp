// Data that flows down a tree in segments.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/row.hpp"
#include "ucg/algo/common/trees.hpp"

namespace ucg::algo {

// Receives each segment of `data` from the parent, where there is one, and sends it to the children
// while the next one comes.
task flow_down(member& me, const call& what, tree_place at, std::byte* data, cut segments);

}  // namespace ucg::algo
