#include "ucg/algo/common/pipeline.hpp"

#include <array>

namespace ucg::algo {

task flow_down(member& me, const call& args, tree_links tree, std::byte* data, cut segments) {
    const auto place = [&](std::uint64_t i) { return data + segments.begin(i) * args.element; };
    const auto bytes = [&](std::uint64_t i) { return segments.size(i) * args.element; };
    std::array<flight, 2> in, to_left, to_right;
    const auto listen = [&](std::uint64_t i) {
        if (tree.parent != no_rank && i < segments.pieces)
            in[i % 2].receive(me, tree.parent, place(i), bytes(i));
    };
    listen(0);
    for (std::uint64_t i = 0; i < segments.pieces; ++i) {
        listen(i + 1);
        co_await in[i % 2];
        co_await to_left[i % 2];
        if (tree.left != no_rank) to_left[i % 2].send(me, tree.left, place(i), bytes(i));
        co_await to_right[i % 2];
        if (tree.right != no_rank) to_right[i % 2].send(me, tree.right, place(i), bytes(i));
    }
    for (unsigned i = 0; i < 2; ++i) {
        co_await to_left[i];
        co_await to_right[i];
    }
}

}  // namespace ucg::algo
