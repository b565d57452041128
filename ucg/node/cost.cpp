#include "ucg/node/cost.hpp"

#include <algorithm>

namespace ucg::node {
namespace {

using schedule::collective;
using schedule::node_price;
using schedule::rank_t;

// The work of the busiest rank in one call, by the stages of pattern.hpp: it copies what others
// need into its slots, works on a part if the pattern has a work stage, and takes. In bytes; a
// reduction is charged by what it reads and writes.
struct stage_work {
    double put = 0;  // bytes copied while others wait
    double copied = 0;
    double reduced = 0;
    double slots = 0;  // bytes that a rank puts into slots; they decide about segments
    unsigned meetings = 1;
};

// Cost of reducing this many sources at once, relative to reducing two, in bytes of result: two
// sources move three bytes.
double passes(double sources) noexcept {
    return (sources + 1) / 3;
}

stage_work reducing(const asked& call, const node_price& price) noexcept {
    const double others = call.ranks - 1;
    const double size = call.bytes;
    if (call.ranks <= price.direct_ranks || size * others <= price.direct_bytes)
        return {size, 0, size * passes(call.ranks), size, 1};
    const double part = size / call.ranks;
    // A part is reduced into the slot and copied from there; the parts of the other ranks are
    // taken.
    return {size - part, part + (size - part), part * passes(call.ranks), size, 2};
}

stage_work stages_of(const asked& call, const node_price& price) noexcept {
    const double others = call.ranks - 1;
    switch (call.what) {
        case collective::bcast:
            return {call.bytes, call.bytes, 0, call.bytes, 1};
        case collective::reduce:
        case collective::allreduce:
            return reducing(call, price);
        case collective::gather:
        case collective::gatherv:
            return {call.largest, call.total - call.largest, 0, call.largest, 1};
        case collective::allgather:
        case collective::allgatherv:
            return {call.largest, call.total, 0, call.largest, 1};
        case collective::scatter:
        case collective::scatterv:
            return {call.total - call.largest, call.largest, 0, call.total, 1};
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            return {call.total - call.largest, 0, call.largest * passes(call.ranks), call.total, 1};
        case collective::alltoall:
            return {call.bytes * others, call.bytes * call.ranks, 0, call.total, 1};
        default:
            return {};
    }
}

// In these collectives the rank that gives is not the rank that takes, so a rank waits for the
// first segment only.
bool overlaps(collective type) noexcept {
    return type == collective::bcast || type == collective::gather || type == collective::gatherv ||
           type == collective::scatter || type == collective::scatterv;
}

}  // namespace

asked asked_by(const schedule::call& args, rank_t ranks) noexcept {
    const auto bytes = [&](std::uint64_t count) {
        return static_cast<double>(count) * static_cast<double>(args.element);
    };
    asked result{args.what, ranks, bytes(args.count), bytes(args.count) * ranks, bytes(args.count)};
    if (args.counts == nullptr) return result;
    result.total = result.largest = 0;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        result.total += bytes(args.counts[rank]);
        result.largest = std::max(result.largest, bytes(args.counts[rank]));
    }
    return result;
}

duration cost_of(const asked& call, const node_price& price) noexcept {
    if (call.ranks < 2) return {0, call.bytes * price.copy_byte, 0};
    const stage_work work = stages_of(call, price);
    const double looks = (call.ranks - 1) * price.look;
    const bool is_long = price.cutting.are_long(work.slots, call.ranks);
    const std::size_t piece = is_long ? price.cutting.long_segment : price.cutting.segment;
    const double pieces = std::max(1.0, work.slots / static_cast<double>(piece));
    const double given = overlaps(call.what) ? work.put / pieces : work.put;
    duration result;
    // After the first segment, a rank finds the flags set, because the segments are worked on at
    // the same time.
    result.waiting = work.meetings * (price.flag + looks + (pieces - 1) * looks);
    result.copying = (given + work.copied) * price.copy_byte;
    result.reducing = work.reduced * price.reduce_byte;
    return result;
}

}  // namespace ucg::node
