// Allgathers among one rank of each node, of the blocks of nodes, and inside nodes.
#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/levels.hpp"

namespace ucg::algo::allgather {
namespace {

// All blocks in the order of nodes: in the output where that is the order of ranks, else in scratch
// memory.
struct node_blocks {
    std::byte* all;
    const std::uint64_t* counts;  // of the nodes
    const std::uint64_t* places;

    static std::size_t tables_size(const placement& where) noexcept {
        return 2 * where.nodes() * sizeof(std::uint64_t);
    }
    static std::size_t size(const call& what, const placement& where) noexcept {
        const std::size_t moved =
            where.in_order() ? 0 : where.ranks() * what.count * what.element;
        return tables_size(where) + moved;
    }
    static node_blocks take(member& me, const call& what) noexcept {
        const placement& where = me.where();
        auto* const counts = reinterpret_cast<std::uint64_t*>(me.scratch(tables_size(where)));
        std::uint64_t* const places = counts + where.nodes();
        std::uint64_t place = 0;
        for (rank_t node = 0; node < where.nodes(); ++node) {
            counts[node] = where.on(node).size() * what.count;
            places[node] = place;
            place += counts[node];
        }
        std::byte* const all = where.in_order()
                                   ? bytes_of(what.into)
                                   : me.scratch(where.ranks() * what.count * what.element);
        return {all, counts, places};
    }
    [[nodiscard]] blocks<std::byte> bytes(const call& what) const noexcept {
        return {all, what.element, counts, places};
    }
};

const void* own_block(member& me, const call& what) noexcept {
    if (!what.in_place) return what.from;
    return bytes_of(what.into) + me.rank() * what.count * what.element;
}

// From the order of nodes to that of ranks.
task put_in_order(member& me, const call& what, const node_blocks& from) {
    const placement& where = me.where();
    const std::size_t bytes = what.count * what.element;
    if (where.in_order()) co_return;
    for (rank_t node = 0; node < where.nodes(); ++node) {
        const std::byte* block = from.bytes(what).at(node);
        for (const rank_t rank : where.on(node)) {
            co_await me.copy(bytes_of(what.into) + rank * bytes, block, bytes);
            block += bytes;
        }
    }
}

// The node's own block, at its leader or at all of its ranks.
call collecting(member& me, const call& what, collective how, const node_blocks& in,
                const level_place& at) noexcept {
    call made = what;
    made.what = how;
    made.root = 0;
    made.from = own_block(me, what);
    made.into = in.bytes(what).at(at.node);
    made.in_place = what.in_place && me.where().in_order();
    if (how == collective::gather && !at.leads) {
        made.into = nullptr;
        made.in_place = false;
    }
    return made;
}

double order_cost(const shape& of, const link_cost& link) noexcept {
    return of.where->in_order() ? 0 : of.bytes * of.ranks * link.copy_byte;
}

call giving(const call& what, std::byte* data, std::uint64_t count) noexcept {
    call made = what;
    made.what = collective::bcast;
    made.from = nullptr;
    made.into = data;
    made.count = count;
    made.root = 0;
    made.in_place = false;
    return made;
}

}  // namespace

task hierarchical::run(member& me, const call& what) {
    const level_place at(me, 1);
    const node_blocks in = node_blocks::take(me, what);
    std::byte* const mine = in.bytes(what).at(at.node);
    if (at.here > 1)
        co_await me.together(collecting(me, what, collective::gather, in, at));
    else
        co_await me.copy(mine, own_block(me, what), what.count * what.element);
    if (at.leads) {
        member leader = me.part(leaders_of_all(me, 0), at.node, at.nodes);
        call blocks = what;
        blocks.what = collective::allgatherv;
        blocks.into = in.all;
        blocks.in_place = true;
        blocks.count = in.counts[at.node];
        blocks.counts = in.counts;
        blocks.places = in.places;
        co_await bruck::run(leader, blocks);
    }
    if (at.here > 1) co_await me.together(giving(what, in.all, me.size() * what.count));
    co_await put_in_order(me, what, in);
}

std::size_t hierarchical::scratch_on_nodes(const call& what, rank_t, const placement& where) {
    return node_blocks::size(what, where) + leaders_size(where) +
           where.ranks() * what.count * what.element;
}

// What came in the step before is given to the node while the next block travels.
task hierarchical_ring::run(member& me, const call& what) {
    const level_place at(me, 1);
    const node_blocks in = node_blocks::take(me, what);
    const blocks<std::byte> data = in.bytes(what);
    if (at.here > 1)
        co_await me.together(collecting(me, what, collective::allgather, in, at));
    else
        co_await me.copy(data.at(at.node), own_block(me, what), data.bytes(at.node));
    const auto before = [&](rank_t steps) { return (at.node + at.nodes - steps) % at.nodes; };
    member leader = me.part(leaders_of_all(me, 0), at.node, at.nodes);
    flight moving;
    schedule::node_work closing;
    for (rank_t step = 0; step < at.nodes; ++step) {
        const rank_t out = before(step);
        const rank_t in_next = before(step + 1);
        if (at.leads && step + 1 < at.nodes)
            moving.exchange(leader, (at.node + 1) % at.nodes, data.at(out), data.bytes(out),
                            before(1), data.at(in_next), data.bytes(in_next));
        if (at.here > 1 && step > 0) {
            co_await closing;
            closing.begin(me, giving(what, data.at(out), in.counts[out]));
        }
        co_await moving;
    }
    co_await closing;
    co_await put_in_order(me, what, in);
}

std::size_t hierarchical_ring::scratch_on_nodes(const call& what, rank_t,
                                                const placement& where) {
    return node_blocks::size(what, where) + leaders_size(where);
}

double hierarchical::cost(const shape& of, const link_cost& link) {
    const shape leaders = between_nodes(of, of.bytes * of.where->most(), 1);
    return node_cost(of, link, collective::gather, of.bytes) + bruck::cost(leaders, link) +
           node_cost(of, link, collective::bcast, of.bytes * of.ranks) + order_cost(of, link);
}

double hierarchical_ring::cost(const shape& of, const link_cost& link) {
    const double block = of.bytes * of.where->most();
    const double moving = link.latency + std::max(block * link.per_byte, link.gap);
    const double giving = node_cost(of, link, collective::bcast, block);
    return node_cost(of, link, collective::allgather, of.bytes) +
           (of.where->nodes() - 1) * std::max(moving, giving) + giving + order_cost(of, link);
}

}  // namespace ucg::algo::allgather
