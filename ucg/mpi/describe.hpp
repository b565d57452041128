// Translates the arguments of MPI's collectives to those of ucg.
//
// All ranks must decide alike if ucg serves a call, although their arguments may differ: MPI
// requires matching type signatures, not equal types. So the decision depends only on what MPI
// guarantees to be equal: the bytes of a block, and type, operator and count of reductions. Data
// that are not laid out as ucg needs them are staged, which each rank decides on its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ucg/mpi/comm_info.hpp"
#include "ucg/mpi/fits.hpp"
#include "ucg/mpi/prepared.hpp"
#include "ucg/mpi/types.hpp"

namespace ucg::mpi {

// Blocks as a program describes them: Count is int or MPI_Count, Place int or MPI_Aint.
template<class Count, class Place>
struct blocks_of {
    const Count* counts;
    const Place* places;
};

namespace describing {

// A range of memory. An input that overlaps the output is staged, so that the copy keeps the
// original bytes.
struct range {
    const void* begin = nullptr;
    std::uint64_t bytes = 0;
    [[nodiscard]] bool overlaps(const range& other) const noexcept {
        const auto a = reinterpret_cast<std::uintptr_t>(begin);
        const auto b = reinterpret_cast<std::uintptr_t>(other.begin);
        return bytes != 0 && other.bytes != 0 && a < b + other.bytes && b < a + bytes;
    }
};

inline void stage_input(prepared_call& p, const void* base, const layout& type,
                        std::vector<piece> pieces) {
    p.inputs = pieces.size();
    // The input is only read, because only gather() is called.
    p.in = std::make_unique<staging>(const_cast<void*>(base), type, std::move(pieces));
    p.args.src = p.in->memory();
}

inline void stage_output(prepared_call& p, void* base, const layout& type,
                         std::vector<piece> pieces) {
    p.out = std::make_unique<staging>(base, type, std::move(pieces));
    p.has_output = true;
    p.args.dst = p.out->memory();
}

// The offset of an element from the buffer. Each rank's type may have any extent, so the
// computation wraps around instead of deciding if ucg serves the call.
inline std::ptrdiff_t reach(std::uint64_t elements, std::ptrdiff_t extent) noexcept {
    return static_cast<std::ptrdiff_t>(elements * static_cast<std::uint64_t>(extent));
}

inline std::vector<piece> equal_pieces(std::size_t count, std::uint64_t elements,
                                       std::ptrdiff_t extent) {
    std::vector<piece> made(count);
    for (std::size_t i = 0; i < count; ++i)
        made[i] = {reach(i * elements, extent), elements};
    return made;
}

template<class Count, class Place>
std::vector<piece> pieces_of(const blocks_of<Count, Place>& blocks, std::size_t count,
                             std::ptrdiff_t extent) {
    std::vector<piece> made(count);
    for (std::size_t i = 0; i < count; ++i)
        if (blocks.counts[i] != 0)
            made[i] = {reach(static_cast<std::uint64_t>(blocks.places[i]), extent),
                       static_cast<std::uint64_t>(blocks.counts[i])};
    return made;
}

// The memory range of dense pieces: from the first non-empty piece to the end of the last.
inline range range_of(const void* base, const std::vector<piece>& pieces, std::uint64_t size,
                      std::ptrdiff_t& low) noexcept {
    std::ptrdiff_t high = 0;
    bool found_any = false;
    low = 0;
    for (const piece& each : pieces) {
        if (each.elements == 0) continue;
        const std::ptrdiff_t end = each.place + static_cast<std::ptrdiff_t>(each.elements * size);
        low = found_any ? std::min(low, each.place) : each.place;
        high = found_any ? std::max(high, end) : end;
        found_any = true;
    }
    return {shifted(base, low), static_cast<std::uint64_t>(high - low)};
}

inline void set_counts(std::vector<std::uint64_t>& counts, const std::vector<piece>& pieces,
                       std::uint64_t size) {
    counts.resize(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
        counts[i] = pieces[i].elements * size;
}

inline void set_places(std::vector<std::uint64_t>& places, const std::vector<piece>& pieces,
                       std::ptrdiff_t low) {
    places.resize(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
        places[i] = pieces[i].elements == 0 ? 0 : static_cast<std::uint64_t>(pieces[i].place - low);
}

inline void begin(prepared_call& p, ucg_coll_t collective, bool in_place) noexcept {
    p.args.coll = collective;
    p.args.type = UCG_TYPE_UINT8;
    if (in_place) p.args.flags |= UCG_COLL_IN_PLACE;
}

// Sets the input of one piece, unless it is in place. `output` is the memory of the output.
inline void set_input(prepared_call& p, const void* in, std::uint64_t elements, const layout& type,
                      const range& output) {
    if (in == MPI_IN_PLACE) return;
    if (type.dense && !range{in, elements * type.size}.overlaps(output))
        p.args.src = in;
    else
        stage_input(p, in, type, {{0, elements}});
}

// Sets up a collective of equal blocks: `in_blocks` blocks on the input side, and one for each rank
// on the output side.
template<class Count>
reason equal_blocks(prepared_call& p, const comm_info& info, ucg_coll_t collective,
                    std::uint32_t in_blocks, const void* in, Count in_count, MPI_Datatype in_type,
                    void* out, Count out_count, MPI_Datatype out_type) {
    const bool in_place = in == MPI_IN_PLACE;
    if (out_type == MPI_DATATYPE_NULL || (!in_place && in_type == MPI_DATATYPE_NULL))
        return reason::arguments;
    const layout target = layout_of(out_type), source = in_place ? target : layout_of(in_type);
    if (!fits(out_count, info.size, target.size) ||
        (!in_place && !fits(in_count, in_blocks, source.size)))
        return reason::arguments;
    begin(p, collective, in_place);
    const auto elements = static_cast<std::uint64_t>(out_count);
    p.args.count = elements * target.size;
    range output;
    if (target.dense) {
        p.args.dst = out;
        output = {out, p.args.count * info.size};
    } else {
        stage_output(p, out, target, equal_pieces(info.size, elements, target.extent));
    }
    set_input(p, in, in_place ? 0 : static_cast<std::uint64_t>(in_count) * in_blocks, source,
              output);
    if (!in_place || !p.out) return reason::none;
    // In place, allgather has this rank's block at its place in the output, alltoall has all
    // blocks.
    p.first_input = collective == UCG_COLL_ALLGATHER ? info.rank : 0;
    p.inputs = in_blocks;
    return reason::none;
}

// Sets the output of a block from each rank. Returns its memory; nothing if it is staged.
template<class Count, class Place>
range set_output(prepared_call& p, void* out, const blocks_of<Count, Place>& blocks,
                 std::uint32_t size, const layout& type) {
    auto pieces = pieces_of(blocks, size, type.extent);
    set_counts(p.blocks.dst_counts, pieces, type.size);
    if (!type.dense) {
        stage_output(p, out, type, std::move(pieces));
        return {};
    }
    std::ptrdiff_t low = 0;
    const range whole = range_of(out, pieces, type.size, low);
    set_places(p.blocks.dst_displs, pieces, low);
    p.args.dst = const_cast<void*>(whole.begin);
    return whole;
}

// Sets up a reduction that MPI defines for a built-in type, of `blocks` times `count` elements. Its
// input has the layout that ucg needs.
template<class Count>
reason reduction(prepared_call& p, ucg_coll_t collective, bool in_place, Count count,
                 std::uint64_t blocks, MPI_Datatype type, MPI_Op op) noexcept {
    const reduction_kind known = reduction_kind_of(type, op);
    if (!known.type_known) return reason::datatype;
    if (!known.op_known) return reason::operation;
    if (!fits(count, blocks, ucg_type_size(known.type))) return reason::arguments;
    begin(p, collective, in_place);
    p.args.type = known.type;
    p.args.op = known.op;
    return reason::none;
}

inline void reduction_sides(prepared_call& p, const void* in, std::uint64_t in_elements, void* out,
                            std::uint64_t out_elements) {
    const std::uint64_t size = ucg_type_size(p.args.type);
    p.args.dst = out;
    if (in == MPI_IN_PLACE) return;
    p.args.src = in;
    if (!range{in, in_elements * size}.overlaps({out, out_elements * size})) return;
    stage_input(p, in, {MPI_BYTE, 1, 1, true}, {{0, in_elements * size}});
}

}  // namespace describing

// --- each collective ---

inline reason describe_barrier(prepared_call& p, const comm_info&) noexcept {
    p.args.coll = UCG_COLL_BARRIER;
    return reason::none;
}

template<class Count>
reason describe_bcast(prepared_call& p, const comm_info& info, void* buffer, Count count,
                      MPI_Datatype type, int root) {
    if (type == MPI_DATATYPE_NULL || root < 0 || static_cast<std::uint32_t>(root) >= info.size)
        return reason::arguments;
    const layout source = layout_of(type);
    if (!fits(count, 1, source.size)) return reason::arguments;
    const auto elements = static_cast<std::uint64_t>(count);
    describing::begin(p, UCG_COLL_BCAST, false);
    p.args.count = elements * source.size;
    p.args.root = static_cast<std::uint32_t>(root);
    if (source.dense) {
        p.args.dst = buffer;
        return reason::none;
    }
    describing::stage_output(p, buffer, source, {{0, elements}});
    const bool is_root = info.rank == p.args.root;
    p.inputs = is_root ? 1 : 0;
    p.has_output = !is_root;
    return reason::none;
}

template<class Count>
reason describe_allgather(prepared_call& p, const comm_info& info, const void* in, Count in_count,
                          MPI_Datatype in_type, void* out, Count out_count, MPI_Datatype out_type) {
    return describing::equal_blocks(p, info, UCG_COLL_ALLGATHER, 1, in, in_count, in_type, out,
                                    out_count, out_type);
}

template<class Count>
reason describe_alltoall(prepared_call& p, const comm_info& info, const void* in, Count in_count,
                         MPI_Datatype in_type, void* out, Count out_count, MPI_Datatype out_type) {
    return describing::equal_blocks(p, info, UCG_COLL_ALLTOALL, info.size, in, in_count, in_type,
                                    out, out_count, out_type);
}

template<class Count, class Place>
reason describe_allgatherv(prepared_call& p, const comm_info& info, const void* in, Count in_count,
                           MPI_Datatype in_type, void* out, const Count* counts,
                           const Place* places, MPI_Datatype out_type) {
    const blocks_of<Count, Place> out_blocks{counts, places};
    const bool in_place = in == MPI_IN_PLACE;
    if (out_type == MPI_DATATYPE_NULL || (!in_place && in_type == MPI_DATATYPE_NULL))
        return reason::arguments;
    const layout target = layout_of(out_type), source = in_place ? target : layout_of(in_type);
    if (!fit(counts, places, info.size, target.size) ||
        (!in_place && !fits(in_count, 1, source.size)))
        return reason::arguments;
    describing::begin(p, UCG_COLL_ALLGATHERV, in_place);
    const describing::range output = describing::set_output(p, out, out_blocks, info.size, target);
    if (in_place && p.out) {
        p.first_input = info.rank;
        p.inputs = 1;
    }
    describing::set_input(p, in, static_cast<std::uint64_t>(in_count), source, output);
    return reason::none;
}

template<class Count, class Place>
reason describe_alltoallv(prepared_call& p, const comm_info& info, const void* in,
                          const Count* in_counts, const Place* in_places, MPI_Datatype in_type,
                          void* out, const Count* out_counts, const Place* out_places,
                          MPI_Datatype out_type) {
    const blocks_of<Count, Place> in_blocks{in_counts, in_places},
        out_blocks{out_counts, out_places};
    const bool in_place = in == MPI_IN_PLACE;
    if (out_type == MPI_DATATYPE_NULL || (!in_place && in_type == MPI_DATATYPE_NULL))
        return reason::arguments;
    const layout target = layout_of(out_type), source = in_place ? target : layout_of(in_type);
    if (!fit(out_counts, out_places, info.size, target.size) ||
        (!in_place && !fit(in_counts, in_places, info.size, source.size)))
        return reason::arguments;
    describing::begin(p, UCG_COLL_ALLTOALLV, in_place);
    const describing::range output = describing::set_output(p, out, out_blocks, info.size, target);
    if (in_place) {
        if (p.out) p.inputs = info.size;
        return reason::none;
    }
    auto pieces = describing::pieces_of(in_blocks, info.size, source.extent);
    describing::set_counts(p.blocks.src_counts, pieces, source.size);
    if (source.dense) {
        std::ptrdiff_t low = 0;
        const describing::range from = describing::range_of(in, pieces, source.size, low);
        if (!from.overlaps(output)) {
            describing::set_places(p.blocks.src_displs, pieces, low);
            p.args.src = from.begin;
            return reason::none;
        }
    }
    describing::stage_input(p, in, source, std::move(pieces));
    return reason::none;
}

template<class Count>
reason describe_allreduce(prepared_call& p, const comm_info&, const void* in, void* out,
                          Count count, MPI_Datatype type, MPI_Op op) {
    const reason why =
        describing::reduction(p, UCG_COLL_ALLREDUCE, in == MPI_IN_PLACE, count, 1, type, op);
    if (why != reason::none) return why;
    p.args.count = static_cast<std::uint64_t>(count);
    describing::reduction_sides(p, in, p.args.count, out, p.args.count);
    return reason::none;
}

template<class Count>
reason describe_reduce(prepared_call& p, const comm_info& info, const void* in, void* out,
                       Count count, MPI_Datatype type, MPI_Op op, int root) {
    if (root < 0 || static_cast<std::uint32_t>(root) >= info.size) return reason::arguments;
    const reason why =
        describing::reduction(p, UCG_COLL_REDUCE, in == MPI_IN_PLACE, count, 1, type, op);
    if (why != reason::none) return why;
    p.args.count = static_cast<std::uint64_t>(count);
    p.args.root = static_cast<std::uint32_t>(root);
    const bool is_root = info.rank == p.args.root;
    describing::reduction_sides(p, in, p.args.count, is_root ? out : nullptr,
                                is_root ? p.args.count : 0);
    return reason::none;
}

template<class Count>
reason describe_reduce_scatter_block(prepared_call& p, const comm_info& info, const void* in,
                                     void* out, Count count, MPI_Datatype type, MPI_Op op) {
    const reason why = describing::reduction(p, UCG_COLL_REDUCE_SCATTER_BLOCK, in == MPI_IN_PLACE,
                                             count, info.size, type, op);
    if (why != reason::none) return why;
    p.args.count = static_cast<std::uint64_t>(count);
    describing::reduction_sides(p, in, p.args.count * info.size, out, p.args.count);
    return reason::none;
}

template<class Count>
reason describe_reduce_scatter(prepared_call& p, const comm_info& info, const void* in, void* out,
                               const Count* counts, MPI_Datatype type, MPI_Op op) {
    const auto all = sum_of(counts, info.size);
    if (!all) return reason::arguments;
    const reason why =
        describing::reduction(p, UCG_COLL_REDUCE_SCATTER, in == MPI_IN_PLACE, *all, 1, type, op);
    if (why != reason::none) return why;
    p.blocks.dst_counts.assign(counts, counts + info.size);
    describing::reduction_sides(p, in, *all, out, p.blocks.dst_counts[info.rank]);
    return reason::none;
}

}  // namespace ucg::mpi
