#include <array>

#include "ucg/algo/bcast/bcast.hpp"
#include "ucg/algo/common/binomial.hpp"
#include "ucg/algo/common/ring.hpp"
#include "ucg/algo/common/prices.hpp"

namespace ucg::algo::bcast {

// Places of the tree and places around the ring are the same, counted from the root: so what a
// subtree gets lies together.
task scatter_allgather::run(member& me, const call& what) {
    const rank_t size = me.size();
    const binomial_place at(me.rank(), size, what.root);
    const cut pieces{what.count, size};
    const auto place = [&](rank_t piece) { return pieces.begin(piece) * what.element; };
    std::byte* const data = bytes_of(what.into);
    if (!at.is_root()) {
        const std::size_t begin = place(at.place());
        co_await me.receive(at.parent(), data + begin, place(at.end()) - begin);
    }
    std::array<flight, children_at_once> sends;
    unsigned next = 0;
    for (rank_t distance = at.reach() / 2; distance != 0; distance /= 2) {
        if (!at.has_child(distance)) continue;
        flight& free = sends[next++ % children_at_once];
        co_await free;
        const std::size_t begin = place(at.place() + distance);
        free.send(me, at.child(distance), data + begin, place(at.child_end(distance)) - begin);
    }
    for (flight& each : sends)
        co_await each;
    auto* const table =
        reinterpret_cast<std::uint64_t*>(me.scratch(2 * size * sizeof(std::uint64_t)));
    for (rank_t piece = 0; piece < size; ++piece) {
        table[at.real(piece)] = pieces.size(piece);
        table[size + at.real(piece)] = pieces.begin(piece);
    }
    co_await ring_allgather(me, {data, what.element, table, table + size});
}

std::size_t scatter_allgather::scratch(const call&, rank_t, rank_t size) {
    return 2 * size * sizeof(std::uint64_t);
}

double scatter_allgather::cost(const shape& of, const link_cost& link) {
    rounds all(of, link);
    for (rank_t distance = std::bit_ceil(of.ranks) / 2; distance != 0; distance /= 2)
        all.tree(distance, of.bytes * std::min(1.0, static_cast<double>(distance) / of.ranks));
    all.ring(of.ranks - 1, of.bytes / of.ranks);
    return all.total();
}

}  // namespace ucg::algo::bcast
