// Pipelined broadcast: sends data down a tree in segments.
#pragma once

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/row.hpp"
#include "ucg/algo/common/trees.hpp"

namespace ucg::algo {

// Receives each segment of `data` from the parent, if there is one, and sends it to the children
// while the next segment arrives.
task flow_down(member& me, const call& args, tree_links tree, std::byte* data, cut segments);

}  // namespace ucg::algo
