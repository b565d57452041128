// Common parts of hierarchical algorithms, which have two levels: inside nodes, and between the
// leaders of nodes.
#pragma once

#include <array>
#include <utility>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/row.hpp"
#include "ucg/schedule/reducer.hpp"
#include "ucg/schedule/task_group.hpp"

namespace ucg::algo {

using schedule::placement;

// How a hierarchical algorithm divides its data. It is computed from values that are the same on
// every rank, so it is the same on every rank.
struct leader_division {
    rank_t leaders = 1;  // the first ranks of each node; each has a share of every segment
    double segment = 0;  // bytes of a segment, over all leaders of a node
};

// Uses few leaders if their shares would be small. If the data is long enough, uses at least as
// many leaders as a node has rails. Makes as many segments as there are lanes, but a leader's share
// of a segment is between a sixteenth and a half of `sizes.segment`, and at least `least_share`.
[[nodiscard]] leader_division divide(double bytes, const schedule::tuning& sizes,
                                     const placement& placement, double least_share = 0) noexcept;

[[nodiscard]] inline double bytes_in(const call& args) noexcept {
    return static_cast<double>(args.count) * static_cast<double>(args.element);
}

// The position of this rank in both levels.
struct level_position {
    level_position(member& me, rank_t leaders) noexcept
        : node(me.node_placement().node_of(me.rank())),
          nodes(me.node_placement().nodes()),
          index(me.node_placement().index_of(me.rank())),
          ranks_here(static_cast<rank_t>(me.node_placement().ranks_on(node).size())),
          leads(index < leaders) {}

    rank_t node, nodes;
    rank_t index, ranks_here;  // index of this rank on its node, and number of ranks there
    bool leads;
};

// Returns the ranks with index `index` on all nodes, or the last rank of a smaller node, in scratch
// memory of leaders_size() bytes.
[[nodiscard]] rank_t* leaders_of_all(member& me, rank_t index) noexcept;
[[nodiscard]] std::size_t leaders_size(const placement& placement) noexcept;

// Maximum number of segments that are in flight between nodes at the same time.
inline constexpr rank_t lanes = 8;

// Returns this member once for each lane: with its own channel and its own scratch memory.
[[nodiscard]] inline std::array<member, lanes> lanes_of(
    const member& me, std::array<schedule::arena, lanes>& arenas) noexcept {
    return [&]<std::size_t... Lane>(std::index_sequence<Lane...>) {
        return std::array<member, lanes>{
            me.on_channel(static_cast<schedule::channel_t>(Lane)).with(arenas[Lane])...};
    }
    (std::make_index_sequence<lanes>());
}

// Passes segments through three stages: a collective of the node, messages between leaders, another
// collective of the node. The order of a node's collectives depends only on the numbers of
// segments: the closing of segment i comes before the opening of segment i + lanes. `stages`
// provides:
//
//   std::uint64_t segments
//   bool opens, closes                 true if there is an opening, a closing stage
//   call opening(segment), closing(segment)
//   static task between(member& me, Stages& stages, std::uint64_t segment)
//
// Segments i and i + lanes use the same channel and the same part of `scratch`, which has
// lanes * lane_bytes bytes.
template<class Stages>
task pass_levels(member& me, Stages& stages, std::byte* scratch, std::size_t lane_bytes) {
    std::array<schedule::arena, lanes> arenas;
    for (rank_t i = 0; i < lanes; ++i)
        arenas[i] = {scratch + i * lane_bytes, lane_bytes};
    std::array<member, lanes> members = lanes_of(me, arenas);
    schedule::node_work opening;
    schedule::node_work closing;
    std::array<schedule::concurrent_task, lanes> moving;
    for (std::uint64_t i = 0; i < stages.segments + lanes; ++i) {
        const std::size_t lane = i % lanes;
        if (i >= lanes && i - lanes < stages.segments) {
            co_await moving[lane];
            co_await closing;
            if (stages.closes) closing.begin(me, stages.closing(i - lanes));
        }
        if (i >= stages.segments) continue;
        if (stages.opens) {
            opening.begin(me, stages.opening(i));
            co_await opening;
        }
        arenas[lane].clear();
        moving[lane].begin(me, Stages::between(members[lane], stages, i));
    }
    co_await closing;
}

// The work of a leader between nodes: the number of messages, and how many times its share passes
// its port in one direction and its processor.
struct leader_work {
    double messages = 0, moved = 0, reduced = 0;

    // `doubling`: recursive doubling or a tree. Otherwise: halving, then doubling back.
    leader_work(rank_t nodes, bool doubling) noexcept;
    [[nodiscard]] static leader_work of_ring(rank_t nodes) noexcept;
};

// The cost of one segment, in seconds.
struct segment_cost {
    double opening = 0, between = 0, closing = 0;
    double held = 0;       // time that the segment occupies a lane of one rank between nodes
    double processor = 0;  // processor time of one rank between nodes
    double port = 0;       // port time of one node
};
[[nodiscard]] double levels_cost(double segments, const segment_cost& each) noexcept;

// Returns the shape that a flat algorithm between the leaders sees; `leaders` ranks share the port
// of a node.
[[nodiscard]] shape between_nodes(const shape& params, double bytes, rank_t leaders) noexcept;

// Returns the cost of a collective on the node with the most ranks. `bytes` is the length of the
// whole vector or of one block. If blocks differ, `largest` is the length of the longest block and
// `bytes` the sum of all blocks.
[[nodiscard]] double node_cost(const shape& params, const link_cost& link, collective kind,
                               double bytes, double largest = 0) noexcept;

// The same operator, but its results are never final, so an average is not divided yet. The caller
// keeps `whole` alive.
class partial_reducer final : public schedule::reducer {
public:
    explicit partial_reducer(const reducer& whole) noexcept
        : reducer(whole.element(), whole.is_commutative(), whole.kind()), whole_(whole) {}
    void combine(void* into, const void* const* from, std::size_t sources, std::size_t count,
                 bool) const noexcept override {
        whole_.combine(into, from, sources, count, false);
    }

private:
    const reducer& whole_;
};

}  // namespace ucg::algo
