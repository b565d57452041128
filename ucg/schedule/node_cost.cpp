#include "ucg/schedule/node_cost.hpp"

#include <algorithm>

namespace ucg::schedule {
namespace {

// The work of the busiest rank in one call, by the stages of pattern.hpp: it copies what others
// need into its slots, works on a part if the pattern has a work stage, and takes. In bytes; a
// reduction is charged by what it reads and writes.
struct stage_work {
    double put = 0;  // bytes copied while others wait
    double copied = 0;
    double reduced = 0;
    double slots = 0;  // bytes that a rank puts into slots; they decide about segments
    unsigned synchronizations = 1;
};

// Cost of reducing this many sources at once, relative to reducing two, in bytes of result: two
// sources move three bytes.
double passes(double sources) noexcept {
    return (sources + 1) / 3;
}

stage_work reducing(const node_shape& shape, const node_cost_params& price) noexcept {
    const double others = shape.ranks - 1;
    const double size = shape.bytes;
    if (shape.ranks <= price.direct_ranks || size * others <= price.direct_bytes)
        return {size, 0, size * passes(shape.ranks), size, 1};
    const double part = size / shape.ranks;
    // A part is reduced into the slot and copied from there; the parts of the other ranks are
    // taken.
    return {size - part, part + (size - part), part * passes(shape.ranks), size, 2};
}

stage_work stages_of(const node_shape& shape, const node_cost_params& price) noexcept {
    const double others = shape.ranks - 1;
    switch (shape.kind) {
        case collective::bcast:
            return {shape.bytes, shape.bytes, 0, shape.bytes, 1};
        case collective::reduce:
        case collective::allreduce:
            return reducing(shape, price);
        case collective::gather:
        case collective::gatherv:
            return {shape.largest, shape.total - shape.largest, 0, shape.largest, 1};
        case collective::allgather:
        case collective::allgatherv:
            return {shape.largest, shape.total, 0, shape.largest, 1};
        case collective::scatter:
        case collective::scatterv:
            return {shape.total - shape.largest, shape.largest, 0, shape.total, 1};
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
            return {shape.total - shape.largest, 0, shape.largest * passes(shape.ranks),
                    shape.total, 1};
        case collective::alltoall:
            return {shape.bytes * others, shape.bytes * shape.ranks, 0, shape.total, 1};
        default:
            return {};
    }
}

}  // namespace

node_shape node_shape_of(const call& args, rank_t ranks) noexcept {
    const auto bytes = [&](std::uint64_t count) {
        return static_cast<double>(count) * static_cast<double>(args.element);
    };
    node_shape result{args.kind, ranks, bytes(args.count), bytes(args.count) * ranks,
                      bytes(args.count)};
    if (args.counts == nullptr) return result;
    result.total = result.largest = 0;
    for (rank_t rank = 0; rank < ranks; ++rank) {
        result.total += bytes(args.counts[rank]);
        result.largest = std::max(result.largest, bytes(args.counts[rank]));
    }
    return result;
}

node_duration node_cost_of(const node_shape& shape, const node_cost_params& price) noexcept {
    if (shape.ranks < 2) return {0, shape.bytes * price.copy_byte, 0};
    const stage_work work = stages_of(shape, price);
    const double looks = (shape.ranks - 1) * price.flag_read;
    const bool is_long = price.cutting.are_long(work.slots, shape.ranks);
    const std::size_t piece = is_long ? price.cutting.long_segment : price.cutting.segment;
    const double pieces = std::max(1.0, work.slots / static_cast<double>(piece));
    // If the rank that gives is not the rank that takes, a rank waits for the first segment only.
    const traits kind = traits_of(shape.kind);
    const double given = kind.has_root() && !kind.reduces ? work.put / pieces : work.put;
    node_duration result;
    // After the first segment, a rank finds the flags set, because the segments are worked on at
    // the same time.
    result.waiting = work.synchronizations * (price.flag + looks + (pieces - 1) * looks);
    result.copying = (given + work.copied) * price.copy_byte;
    result.reducing = work.reduced * price.reduce_byte;
    return result;
}

}  // namespace ucg::schedule
