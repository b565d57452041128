#include <array>

#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/binomial.hpp"
#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/ring.hpp"
#include "ucg/algo/common/round_costs.hpp"

namespace ucg::algo::bcast {

task binomial::run(member& me, const call& args) {
    const std::size_t bytes = args.count * args.element;
    const binomial_node tree(me.rank(), me.size(), args.root);
    if (!tree.is_root()) co_await me.receive(tree.parent(), args.into, bytes);
    std::array<flight, children_at_once> sends;
    unsigned next = 0;
    for (rank_t distance = tree.reach() / 2; distance != 0; distance /= 2) {
        if (!tree.has_child(distance)) continue;
        flight& free = sends[next++ % children_at_once];
        co_await free;
        free.send(me, tree.child(distance), args.into, bytes);
    }
    for (flight& each : sends)
        co_await each;
}

double binomial::cost(const shape& params, const link_cost& link) {
    return binomial_cost(
        params, link, [&](rank_t) { return params.bytes; }, 0);
}

// The tree and the ring use the same virtual ranks, counted from the root. So the pieces of a
// subtree are contiguous.
task scatter_allgather::run(member& me, const call& args) {
    const rank_t size = me.size();
    const binomial_node tree(me.rank(), size, args.root);
    const cut pieces{args.count, size};
    const auto place = [&](rank_t piece) { return pieces.begin(piece) * args.element; };
    std::byte* const data = bytes_of(args.into);
    if (!tree.is_root()) {
        const std::size_t begin = place(tree.virtual_rank());
        co_await me.receive(tree.parent(), data + begin, place(tree.end()) - begin);
    }
    std::array<flight, children_at_once> sends;
    unsigned next = 0;
    for (rank_t distance = tree.reach() / 2; distance != 0; distance /= 2) {
        if (!tree.has_child(distance)) continue;
        flight& free = sends[next++ % children_at_once];
        co_await free;
        const std::size_t begin = place(tree.virtual_rank() + distance);
        free.send(me, tree.child(distance), data + begin, place(tree.child_end(distance)) - begin);
    }
    for (flight& each : sends)
        co_await each;
    auto* const table =
        reinterpret_cast<std::uint64_t*>(me.scratch(2 * size * sizeof(std::uint64_t)));
    for (rank_t piece = 0; piece < size; ++piece) {
        table[tree.real_rank(piece)] = pieces.size(piece);
        table[size + tree.real_rank(piece)] = pieces.begin(piece);
    }
    co_await ring_allgather(me, {data, args.element, table, table + size});
}

std::size_t scatter_allgather::scratch(const call&, rank_t, rank_t size) {
    return 2 * size * sizeof(std::uint64_t);
}

double scatter_allgather::cost(const shape& params, const link_cost& link) {
    const double piece = params.bytes / params.ranks;
    const auto bytes = [&](rank_t distance) {
        return piece * std::min(distance, params.ranks - distance);
    };
    round_costs all(params, link);
    all.ring(params.ranks - 1, piece);
    return binomial_cost(params, link, bytes, 0) + all.total();
}

}  // namespace ucg::algo::bcast
