#include "ucg/node/cost.hpp"

#include <algorithm>

namespace ucg::node {
namespace {

using schedule::collective;
using schedule::node_price;
using schedule::rank_t;

// What the busiest rank does with one call, as in pattern.hpp: it copies what others need into its
// slot, maybe works on a part, and takes. Bytes; a reduction is charged by what it reads and
// writes.
struct stages {
    double put = 0;  // by whom others wait for
    double copied = 0;
    double reduced = 0;
    double slots = 0;  // bytes that a rank puts into slots: decides about segments
    unsigned meetings = 1;
};

// Of so many sources at once, in bytes of result of two sources: those move three.
double passes(double sources) noexcept {
    return (sources + 1) / 3;
}

stages reducing(const asked& what, const node_price& by) noexcept {
    const double others = what.ranks - 1;
    const double size = what.bytes;
    if (what.ranks <= by.direct_ranks || size * others <= by.direct_bytes)
        return {size, 0, size * passes(what.ranks), size, 1};
    const double part = size / what.ranks;
    // A part is reduced into the slot and copied from there; the others' are taken.
    return {size - part, part + (size - part), part * passes(what.ranks), size, 2};
}

stages stages_of(const asked& what, const node_price& by) noexcept {
    const double others = what.ranks - 1;
    switch (what.what) {
        case collective::bcast:
            return {what.bytes, what.bytes, 0, what.bytes, 1};
        case collective::reduce:
        case collective::allreduce:
            return reducing(what, by);
        case collective::gather:
        case collective::gatherv:
            return {what.largest, what.total - what.largest, 0, what.largest, 1};
        case collective::allgather:
        case collective::allgatherv:
            return {what.largest, what.total, 0, what.largest, 1};
        case collective::scatter:
        case collective::scatterv:
            return {what.total - what.largest, what.largest, 0, what.total, 1};
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            return {what.total - what.largest, 0, what.largest * passes(what.ranks), what.total, 1};
        case collective::alltoall:
            return {what.bytes * others, what.bytes * what.ranks, 0, what.total, 1};
        default:
            return {};
    }
}

// Of a broadcast and the like the one who gives is not the one who takes: only the first segment is
// waited for.
bool overlaps(collective what) noexcept {
    return what == collective::bcast || what == collective::gather || what == collective::gatherv ||
           what == collective::scatter || what == collective::scatterv;
}

}  // namespace

asked asked_by(const schedule::call& what, rank_t ranks) noexcept {
    const auto bytes = [&](std::uint64_t count) {
        return static_cast<double>(count) * static_cast<double>(what.element);
    };
    asked made{what.what, ranks, bytes(what.count), bytes(what.count) * ranks, bytes(what.count)};
    if (what.counts == nullptr) return made;
    made.total = made.largest = 0;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        made.total += bytes(what.counts[rank]);
        made.largest = std::max(made.largest, bytes(what.counts[rank]));
    }
    return made;
}

duration cost_of(const asked& what, const node_price& by) noexcept {
    if (what.ranks < 2) return {0, what.bytes * by.copy_byte, 0};
    const stages of = stages_of(what, by);
    const double looks = (what.ranks - 1) * by.look;
    const bool is_long = by.cutting.are_long(of.slots, what.ranks);
    const std::size_t piece = is_long ? by.cutting.long_segment : by.cutting.segment;
    const double pieces = std::max(1.0, of.slots / static_cast<double>(piece));
    const double given = overlaps(what.what) ? of.put / pieces : of.put;
    duration made;
    // Segments after the first one find their flags set while others are worked on.
    made.waiting = of.meetings * (by.flag + looks + (pieces - 1) * looks);
    made.copying = (given + of.copied) * by.copy_byte;
    made.reducing = of.reduced * by.reduce_byte;
    return made;
}

}  // namespace ucg::node
