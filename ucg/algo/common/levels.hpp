// Algorithms of two levels: inside nodes, and between the leaders of nodes.
#pragma once

#include <array>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/algo/common/row.hpp"
#include "ucg/schedule/beside.hpp"

namespace ucg::algo {

using schedule::placement;

// How data is divided for them; the same on every rank, since it comes from what all know.
struct division {
    rank_t leaders = 1;  // of each node, its first ranks; each has a share of every segment
    double segment = 0;  // bytes, of all leaders of a node together
};

// Few leaders where shares would be small; at least as many as a node has rails, where the data is
// worth it. Each leader's share of a segment is `sizes.segment` / 2, and at least `least_share`.
[[nodiscard]] division divide(double bytes, const schedule::tuning& sizes, const placement& where,
                              double least_share = 0) noexcept;

[[nodiscard]] inline double bytes_in(const call& what) noexcept {
    return static_cast<double>(what.count) * static_cast<double>(what.element);
}

// This rank's place in both levels.
struct level_place {
    level_place(member& me, rank_t leaders) noexcept
        : node(me.where().node_of(me.rank())),
          nodes(me.where().nodes()),
          index(me.where().index_of(me.rank())),
          here(static_cast<rank_t>(me.where().on(node).size())),
          leads(index < leaders) {}

    rank_t node, nodes;
    rank_t index, here;  // its place on the node, and how many ranks that has
    bool leads;
};

// The ranks of place `index` on all nodes, which all have one. Bytes of scratch for them.
[[nodiscard]] const rank_t* leaders_of_all(member& me, rank_t index) noexcept;
[[nodiscard]] std::size_t leaders_size(const placement& where) noexcept;

// So many segments may be between the nodes at the same time.
inline constexpr rank_t lanes = 4;

// Passes segments through three stages: a collective of the node, messages between leaders, another
// collective of the node. Nodes ask for theirs in an order that depends on nothing but the numbers
// of segments: that which ends segment i comes before that which begins segment i + lanes. `of`:
//
//   std::uint64_t segments
//   bool opens, closes                 whether there is a first, a last stage
//   call opening(segment), closing(segment)
//   static task between(member& me, Stages& of, std::uint64_t segment)
//
// Segments i and i + lanes use the same channel and the same part of `scratch`, which has
// lanes * room bytes.
template<class Stages>
task pass_levels(member& me, Stages& of, std::byte* scratch, std::size_t room) {
    std::array<schedule::arena, lanes> rooms;
    for (rank_t i = 0; i < lanes; ++i)
        rooms[i] = {scratch + i * room, room};
    std::array<member, lanes> mine{me.on(0).with(rooms[0]), me.on(1).with(rooms[1]),
                                   me.on(2).with(rooms[2]), me.on(3).with(rooms[3])};
    schedule::node_work opening;
    schedule::node_work closing;
    std::array<schedule::beside, lanes> moving;
    for (std::uint64_t i = 0; i < of.segments + lanes; ++i) {
        const std::size_t lane = i % lanes;
        if (i >= lanes && i - lanes < of.segments) {
            co_await moving[lane];
            co_await closing;
            if (of.closes) closing.begin(me, of.closing(i - lanes));
        }
        if (i >= of.segments) continue;
        if (of.opens) {
            opening.begin(me, of.opening(i));
            co_await opening;
        }
        rooms[lane].clear();
        moving[lane].begin(me, Stages::between(mine[lane], of, i));
    }
    co_await closing;
}

// The seconds that it takes where each segment takes so long in its stages, of which `busy` is the
// processor's or a port's, which segments share.
[[nodiscard]] double levels_cost(double segments, double opening, double between, double busy,
                                 double closing) noexcept;

// The leaders as a flat algorithm sees them, so many of each node sharing its port.
[[nodiscard]] shape between_nodes(const shape& of, double bytes, rank_t leaders) noexcept;

// A collective of the fullest node. `bytes`: of the whole vector, or of one block; `largest`: of
// blocks that differ, while `bytes` is the sum of all.
[[nodiscard]] double node_cost(const shape& of, const link_cost& link, collective what,
                               double bytes, double largest = 0) noexcept;

}  // namespace ucg::algo
