// Hierarchical allgathers: inside nodes, and of the nodes' blocks among one leader of each node.
#include "ucg/algo/allgather/allgather.hpp"
#include "ucg/algo/common/levels.hpp"

namespace ucg::algo::allgather {
namespace {

// All blocks in the order of nodes. They lie in the output if that is also the order of ranks, and
// in scratch memory otherwise.
struct node_blocks {
    std::byte* all;
    const std::uint64_t* counts;  // elements of each node's block
    const std::uint64_t* offsets;

    static std::size_t tables_size(const placement& placement) noexcept {
        return 2 * placement.nodes() * sizeof(std::uint64_t);
    }
    static std::size_t size(const call& args, const placement& placement) noexcept {
        const std::size_t moved =
            placement.is_in_order() ? 0 : placement.ranks() * args.count * args.element;
        return tables_size(placement) + moved;
    }
    static node_blocks take(member& me, const call& args) noexcept {
        const placement& placement = me.node_placement();
        auto* const counts = reinterpret_cast<std::uint64_t*>(me.scratch(tables_size(placement)));
        std::uint64_t* const offsets = counts + placement.nodes();
        std::uint64_t place = 0;
        for (rank_t node = 0; node < placement.nodes(); ++node) {
            counts[node] = placement.ranks_on(node).size() * args.count;
            offsets[node] = place;
            place += counts[node];
        }
        std::byte* const all = placement.is_in_order()
                                   ? bytes_of(args.into)
                                   : me.scratch(placement.ranks() * args.count * args.element);
        return {all, counts, offsets};
    }
    [[nodiscard]] blocks<std::byte> bytes(const call& args) const noexcept {
        return {all, args.element, counts, offsets};
    }
};

const void* own_block(member& me, const call& args) noexcept {
    if (!args.in_place) return args.from;
    return bytes_of(args.into) + me.rank() * args.count * args.element;
}

// Copies blocks from the order of nodes to the order of ranks.
task put_in_order(member& me, const call& args, const node_blocks& from) {
    const placement& placement = me.node_placement();
    const std::size_t bytes = args.count * args.element;
    if (placement.is_in_order()) co_return;
    for (rank_t node = 0; node < placement.nodes(); ++node) {
        const std::byte* block = from.bytes(args).at(node);
        for (const rank_t rank : placement.ranks_on(node)) {
            co_await me.copy(bytes_of(args.into) + rank * bytes, block, bytes);
            block += bytes;
        }
    }
}

// Returns the call that collects the node's block, at its leader or at all of its ranks.
call collect_call(member& me, const call& args, collective kind, const node_blocks& in,
                  const level_position& position) noexcept {
    call made = args;
    made.kind = kind;
    made.root = 0;
    made.from = own_block(me, args);
    made.into = in.bytes(args).at(position.node);
    made.in_place = args.in_place && me.node_placement().is_in_order();
    if (kind == collective::gather && !position.leads) {
        made.into = nullptr;
        made.in_place = false;
    }
    return made;
}

double order_cost(const shape& params, const link_cost& link) noexcept {
    return params.node_placement->is_in_order() ? 0 : params.bytes * params.ranks * link.copy_byte;
}

call giving(const call& args, std::byte* data, std::uint64_t count) noexcept {
    call made = args;
    made.kind = collective::bcast;
    made.from = nullptr;
    made.into = data;
    made.count = count;
    made.root = 0;
    made.in_place = false;
    return made;
}

}  // namespace

task hierarchical::run(member& me, const call& args) {
    const level_position position(me, 1);
    const node_blocks in = node_blocks::take(me, args);
    std::byte* const node_block = in.bytes(args).at(position.node);
    if (position.ranks_here > 1)
        co_await me.node_collective(collect_call(me, args, collective::gather, in, position));
    else
        co_await me.copy(node_block, own_block(me, args), args.count * args.element);
    if (position.leads) {
        member leader = me.part(leaders_of_all(me, 0), position.node, position.nodes);
        call blocks = args;
        blocks.kind = collective::allgatherv;
        blocks.into = in.all;
        blocks.in_place = true;
        blocks.count = in.counts[position.node];
        blocks.counts = in.counts;
        blocks.offsets = in.offsets;
        co_await bruck::run(leader, blocks);
    }
    if (position.ranks_here > 1)
        co_await me.node_collective(giving(args, in.all, me.size() * args.count));
    co_await put_in_order(me, args, in);
}

std::size_t hierarchical::scratch_on_nodes(const call& args, rank_t, const placement& placement) {
    return node_blocks::size(args, placement) + leaders_size(placement) +
           placement.ranks() * args.count * args.element;
}

// The leader broadcasts the block of the step before on its node while the next block is in flight.
task hierarchical_ring::run(member& me, const call& args) {
    const level_position position(me, 1);
    const node_blocks in = node_blocks::take(me, args);
    const blocks<std::byte> data = in.bytes(args);
    if (position.ranks_here > 1)
        co_await me.node_collective(collect_call(me, args, collective::allgather, in, position));
    else
        co_await me.copy(data.at(position.node), own_block(me, args), data.bytes(position.node));
    const auto before = [&](rank_t steps) {
        return (position.node + position.nodes - steps) % position.nodes;
    };
    member leader = me.part(leaders_of_all(me, 0), position.node, position.nodes);
    flight moving;
    schedule::node_work closing;
    for (rank_t step = 0; step < position.nodes; ++step) {
        const rank_t out = before(step);
        const rank_t in_next = before(step + 1);
        if (position.leads && step + 1 < position.nodes)
            moving.exchange(leader, (position.node + 1) % position.nodes, data.at(out),
                            data.bytes(out), before(1), data.at(in_next), data.bytes(in_next));
        if (position.ranks_here > 1 && step > 0) {
            co_await closing;
            closing.begin(me, giving(args, data.at(out), in.counts[out]));
        }
        co_await moving;
    }
    co_await closing;
    co_await put_in_order(me, args, in);
}

std::size_t hierarchical_ring::scratch_on_nodes(const call& args, rank_t,
                                                const placement& placement) {
    return node_blocks::size(args, placement) + leaders_size(placement);
}

double hierarchical::cost(const shape& params, const link_cost& link) {
    const shape leaders =
        between_nodes(params, params.bytes * params.node_placement->max_ranks_per_node(), 1);
    return node_cost(params, link, collective::gather, params.bytes) + bruck::cost(leaders, link) +
           node_cost(params, link, collective::bcast, params.bytes * params.ranks) +
           order_cost(params, link);
}

double hierarchical_ring::cost(const shape& params, const link_cost& link) {
    const double block = params.bytes * params.node_placement->max_ranks_per_node();
    const double moving = link.latency + std::max(block * link.per_byte, link.gap);
    const double giving = node_cost(params, link, collective::bcast, block);
    return node_cost(params, link, collective::allgather, params.bytes) +
           (params.node_placement->nodes() - 1) * std::max(moving, giving) + giving +
           order_cost(params, link);
}

}  // namespace ucg::algo::allgather
