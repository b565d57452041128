// Broadcasts in segments: down a chain, and down a binary tree.
#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/pipeline.hpp"

namespace ucg::algo::bcast {
namespace {

cut segments_of_all(const call& what) noexcept {
    return segments_of(what.count, what.element, what.sizes.segment);
}

double pieces_of(const shape& of) noexcept {
    return of.bytes > of.segment ? of.bytes / of.segment : 1;
}

}  // namespace

task chain::run(member& me, const call& what) {
    const rank_t size = me.size();
    const rank_t place = (me.rank() + size - what.root) % size;
    tree_place at;
    if (place != 0) at.parent = (me.rank() + size - 1) % size;
    if (place + 1 != size) at.left = (me.rank() + 1) % size;
    co_await flow_down(me, what, at, bytes_of(what.into), segments_of_all(what));
}

std::size_t chain::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double chain::cost(const shape& of, const link_cost& link) {
    if (of.ranks < 2) return 0;
    const double pieces = pieces_of(of);
    const double step = link.latency + of.bytes / pieces * link.per_byte;
    return (of.ranks - 1) * step +
           (pieces - 1) * (of.bytes / pieces * link.per_byte + link.per_message);
}

task binary_tree::run(member& me, const call& what) {
    const rank_t size = me.size();
    const auto real = [&](rank_t r) { return r == no_rank ? r : (r + what.root) % size; };
    const tree_place at = in_order_tree((me.rank() + size - what.root) % size, size);
    co_await flow_down(me, what, {real(at.parent), real(at.left), real(at.right)},
                       bytes_of(what.into), segments_of_all(what));
}

std::size_t binary_tree::scratch(const call&, rank_t, rank_t) {
    return 0;
}

double binary_tree::cost(const shape& of, const link_cost& link) {
    const double pieces = pieces_of(of);
    const double piece = of.bytes / pieces * link.per_byte;
    return doublings(of.ranks) * (link.latency + 2 * piece) +
           (pieces - 1) * 2 * (piece + link.per_message);
}

}  // namespace ucg::algo::bcast
