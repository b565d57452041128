// From the arguments of MPI's collectives to those of ucg's.
//
// Whether a call is taken must come out alike on all ranks, which need not give equal arguments:
// MPI asks for type signatures that match, not for equal types. So everything here decides by what
// MPI guarantees to be equal: the bytes of a block, and of reductions type, operator and count.
// Whether the data lie as ucg needs them is each rank's own affair: if not, they are staged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ucg/mpi/fits.hpp"
#include "ucg/mpi/membership.hpp"
#include "ucg/mpi/prepared.hpp"
#include "ucg/mpi/types.hpp"

namespace ucg::mpi {

// Blocks as a program gives them: Count is int or MPI_Count, Place int or MPI_Aint.
template<class Count, class Place>
struct blocks_of {
    const Count* counts;
    const Place* places;
};

namespace describing {

// The input of an operation as it lies, or staged if it would overlap the output: a copy then has
// the bytes from before.
struct range {
    const void* begin = nullptr;
    std::uint64_t bytes = 0;
    [[nodiscard]] bool meets(const range& other) const noexcept {
        const auto a = reinterpret_cast<std::uintptr_t>(begin);
        const auto b = reinterpret_cast<std::uintptr_t>(other.begin);
        return bytes != 0 && other.bytes != 0 && a < b + other.bytes && b < a + bytes;
    }
};

inline void stage_input(prepared& p, const void* base, const layout& type,
                        std::vector<piece> pieces) {
    p.inputs = pieces.size();
    // The input is only read: gather() is what is called.
    p.in = std::make_unique<staging>(const_cast<void*>(base), type, std::move(pieces));
    p.args.src = p.in->memory();
}

inline void stage_output(prepared& p, void* base, const layout& type, std::vector<piece> pieces) {
    p.out = std::make_unique<staging>(base, type, std::move(pieces));
    p.has_output = true;
    p.args.dst = p.out->memory();
}

// From the buffer to an element. A type's extent is each rank's own affair and may be anything, so
// this wraps around rather than deciding whether the call is taken.
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

// Where dense pieces lie in memory: from the first one that is not empty to the end of the last.
inline range range_of(const void* base, const std::vector<piece>& pieces, std::uint64_t size,
                      std::ptrdiff_t& low) noexcept {
    std::ptrdiff_t high = 0;
    bool any = false;
    low = 0;
    for (const piece& each : pieces) {
        if (each.elements == 0) continue;
        const std::ptrdiff_t end = each.place + static_cast<std::ptrdiff_t>(each.elements * size);
        low = any ? std::min(low, each.place) : each.place;
        high = any ? std::max(high, end) : end;
        any = true;
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

inline void begin(prepared& p, ucg_coll_t what, bool in_place) noexcept {
    p.args.coll = what;
    p.args.type = UCG_TYPE_UINT8;
    if (in_place) p.args.flags |= UCG_COLL_IN_PLACE;
}

// Of equal blocks, `in_count` elements on one side and `out_blocks` blocks on the other.
template<class Count>
void sides(prepared& p, const void* in, Count in_elements, const layout& in_type, void* out,
           std::size_t out_blocks, Count out_elements, const layout& out_type) {
    const auto elements = static_cast<std::uint64_t>(out_elements);
    range target{out, elements * out_type.size * out_blocks};
    if (out_type.dense) {
        p.args.dst = out;
    } else {
        stage_output(p, out, out_type, equal_pieces(out_blocks, elements, out_type.extent));
        target = {};
    }
    if (in == MPI_IN_PLACE) return;
    const auto given = static_cast<std::uint64_t>(in_elements);
    if (in_type.dense && !range{in, given * in_type.size}.meets(target))
        p.args.src = in;
    else
        stage_input(p, in, in_type, {{0, given}});
}

// A reduction that MPI defines for a built-in type, of `blocks` times `count` elements; its input
// lies as ucg needs it.
template<class Count>
reason reduction(prepared& p, ucg_coll_t what, bool in_place, Count count, std::uint64_t blocks,
                 MPI_Datatype type, MPI_Op op) noexcept {
    const reducing how = reducing_of(type, op);
    if (!how.type_known) return reason::datatype;
    if (!how.op_known) return reason::operation;
    if (!fits(count, blocks, ucg_type_size(how.type))) return reason::arguments;
    begin(p, what, in_place);
    p.args.type = how.type;
    p.args.op = how.op;
    return reason::none;
}

inline void reduction_sides(prepared& p, const void* in, std::uint64_t in_elements, void* out,
                            std::uint64_t out_elements) {
    const std::uint64_t size = ucg_type_size(p.args.type);
    p.args.dst = out;
    if (in == MPI_IN_PLACE) return;
    p.args.src = in;
    if (!range{in, in_elements * size}.meets({out, out_elements * size})) return;
    stage_input(p, in, {MPI_BYTE, 1, 1, true}, {{0, in_elements * size}});
}

}  // namespace describing

// --- each collective ---

inline reason describe_barrier(prepared& p, const membership&) noexcept {
    p.args.coll = UCG_COLL_BARRIER;
    return reason::none;
}

template<class Count>
reason describe_bcast(prepared& p, const membership& of, void* buffer, Count count,
                      MPI_Datatype type, int root) {
    if (type == MPI_DATATYPE_NULL || root < 0 || static_cast<std::uint32_t>(root) >= of.size)
        return reason::arguments;
    const layout where = layout_of(type);
    if (!fits(count, 1, where.size)) return reason::arguments;
    const auto elements = static_cast<std::uint64_t>(count);
    describing::begin(p, UCG_COLL_BCAST, false);
    p.args.count = elements * where.size;
    p.args.root = static_cast<std::uint32_t>(root);
    if (where.dense) {
        p.args.dst = buffer;
        return reason::none;
    }
    describing::stage_output(p, buffer, where, {{0, elements}});
    const bool gives = of.rank == p.args.root;
    p.inputs = gives ? 1 : 0;
    p.has_output = !gives;
    return reason::none;
}

template<class Count>
reason describe_allgather(prepared& p, const membership& of, const void* in, Count in_count,
                          MPI_Datatype in_type, void* out, Count out_count, MPI_Datatype out_type) {
    const bool in_place = in == MPI_IN_PLACE;
    if (out_type == MPI_DATATYPE_NULL || (!in_place && in_type == MPI_DATATYPE_NULL))
        return reason::arguments;
    const layout target = layout_of(out_type), source = in_place ? target : layout_of(in_type);
    if (!fits(out_count, of.size, target.size) || (!in_place && !fits(in_count, 1, source.size)))
        return reason::arguments;
    describing::begin(p, UCG_COLL_ALLGATHER, in_place);
    p.args.count = static_cast<std::uint64_t>(out_count) * target.size;
    describing::sides(p, in, in_count, source, out, of.size, out_count, target);
    if (in_place && p.out) {
        p.first_input = of.rank;
        p.inputs = 1;
    }
    return reason::none;
}

template<class Count>
reason describe_alltoall(prepared& p, const membership& of, const void* in, Count in_count,
                         MPI_Datatype in_type, void* out, Count out_count, MPI_Datatype out_type) {
    const bool in_place = in == MPI_IN_PLACE;
    if (out_type == MPI_DATATYPE_NULL || (!in_place && in_type == MPI_DATATYPE_NULL))
        return reason::arguments;
    const layout target = layout_of(out_type), source = in_place ? target : layout_of(in_type);
    if (!fits(out_count, of.size, target.size) ||
        (!in_place && !fits(in_count, of.size, source.size)))
        return reason::arguments;
    describing::begin(p, UCG_COLL_ALLTOALL, in_place);
    p.args.count = static_cast<std::uint64_t>(out_count) * target.size;
    using wide = std::uint64_t;
    describing::sides<wide>(p, in, in_place ? 0 : static_cast<wide>(in_count) * of.size, source,
                            out, of.size, static_cast<wide>(out_count), target);
    if (in_place && p.out) p.inputs = of.size;
    return reason::none;
}

template<class Count, class Place>
reason describe_allgatherv(prepared& p, const membership& of, const void* in, Count in_count,
                           MPI_Datatype in_type, void* out, const Count* counts,
                           const Place* places, MPI_Datatype out_type) {
    const blocks_of<Count, Place> out_blocks{counts, places};
    const bool in_place = in == MPI_IN_PLACE;
    if (out_type == MPI_DATATYPE_NULL || (!in_place && in_type == MPI_DATATYPE_NULL))
        return reason::arguments;
    const layout target = layout_of(out_type), source = in_place ? target : layout_of(in_type);
    if (!fit(counts, places, of.size, target.size) ||
        (!in_place && !fits(in_count, 1, source.size)))
        return reason::arguments;
    describing::begin(p, UCG_COLL_ALLGATHERV, in_place);
    auto pieces = describing::pieces_of(out_blocks, of.size, target.extent);
    describing::set_counts(p.blocks.dst_counts, pieces, target.size);
    describing::range whole;
    if (target.dense) {
        std::ptrdiff_t low = 0;
        whole = describing::range_of(out, pieces, target.size, low);
        describing::set_places(p.blocks.dst_displs, pieces, low);
        p.args.dst = const_cast<void*>(whole.begin);
    } else {
        describing::stage_output(p, out, target, std::move(pieces));
        p.first_input = of.rank;
        p.inputs = in_place ? 1 : 0;
    }
    if (in_place) return reason::none;
    const auto elements = static_cast<std::uint64_t>(in_count);
    if (source.dense && !describing::range{in, elements * source.size}.meets(whole)) {
        p.args.src = in;
    } else {
        p.first_input = 0;
        describing::stage_input(p, in, source, {{0, elements}});
    }
    return reason::none;
}

template<class Count, class Place>
reason describe_alltoallv(prepared& p, const membership& of, const void* in, const Count* in_counts,
                          const Place* in_places, MPI_Datatype in_type, void* out,
                          const Count* out_counts, const Place* out_places, MPI_Datatype out_type) {
    const blocks_of<Count, Place> in_blocks{in_counts, in_places},
        out_blocks{out_counts, out_places};
    const bool in_place = in == MPI_IN_PLACE;
    if (out_type == MPI_DATATYPE_NULL || (!in_place && in_type == MPI_DATATYPE_NULL))
        return reason::arguments;
    const layout target = layout_of(out_type), source = in_place ? target : layout_of(in_type);
    if (!fit(out_counts, out_places, of.size, target.size) ||
        (!in_place && !fit(in_counts, in_places, of.size, source.size)))
        return reason::arguments;
    describing::begin(p, UCG_COLL_ALLTOALLV, in_place);
    auto pieces = describing::pieces_of(out_blocks, of.size, target.extent);
    describing::set_counts(p.blocks.dst_counts, pieces, target.size);
    describing::range whole;
    std::ptrdiff_t low = 0;
    if (target.dense) {
        whole = describing::range_of(out, pieces, target.size, low);
        describing::set_places(p.blocks.dst_displs, pieces, low);
        p.args.dst = const_cast<void*>(whole.begin);
    } else {
        describing::stage_output(p, out, target, std::move(pieces));
        p.inputs = in_place ? of.size : 0;
    }
    if (in_place) return reason::none;
    pieces = describing::pieces_of(in_blocks, of.size, source.extent);
    describing::set_counts(p.blocks.src_counts, pieces, source.size);
    if (source.dense) {
        const describing::range from = describing::range_of(in, pieces, source.size, low);
        if (!from.meets(whole)) {
            describing::set_places(p.blocks.src_displs, pieces, low);
            p.args.src = from.begin;
            return reason::none;
        }
    }
    describing::stage_input(p, in, source, std::move(pieces));
    return reason::none;
}

template<class Count>
reason describe_allreduce(prepared& p, const membership&, const void* in, void* out, Count count,
                          MPI_Datatype type, MPI_Op op) {
    const reason why =
        describing::reduction(p, UCG_COLL_ALLREDUCE, in == MPI_IN_PLACE, count, 1, type, op);
    if (why != reason::none) return why;
    p.args.count = static_cast<std::uint64_t>(count);
    describing::reduction_sides(p, in, p.args.count, out, p.args.count);
    return reason::none;
}

template<class Count>
reason describe_reduce(prepared& p, const membership& of, const void* in, void* out, Count count,
                       MPI_Datatype type, MPI_Op op, int root) {
    if (root < 0 || static_cast<std::uint32_t>(root) >= of.size) return reason::arguments;
    const reason why =
        describing::reduction(p, UCG_COLL_REDUCE, in == MPI_IN_PLACE, count, 1, type, op);
    if (why != reason::none) return why;
    p.args.count = static_cast<std::uint64_t>(count);
    p.args.root = static_cast<std::uint32_t>(root);
    const bool takes = of.rank == p.args.root;
    describing::reduction_sides(p, in, p.args.count, takes ? out : nullptr,
                                takes ? p.args.count : 0);
    return reason::none;
}

template<class Count>
reason describe_reduce_scatter_block(prepared& p, const membership& of, const void* in, void* out,
                                     Count count, MPI_Datatype type, MPI_Op op) {
    const reason why = describing::reduction(p, UCG_COLL_REDUCE_SCATTER_BLOCK, in == MPI_IN_PLACE,
                                             count, of.size, type, op);
    if (why != reason::none) return why;
    p.args.count = static_cast<std::uint64_t>(count);
    describing::reduction_sides(p, in, p.args.count * of.size, out, p.args.count);
    return reason::none;
}

template<class Count>
reason describe_reduce_scatter(prepared& p, const membership& of, const void* in, void* out,
                               const Count* counts, MPI_Datatype type, MPI_Op op) {
    const auto all = sum_of(counts, of.size);
    if (!all) return reason::arguments;
    const reason why =
        describing::reduction(p, UCG_COLL_REDUCE_SCATTER, in == MPI_IN_PLACE, *all, 1, type, op);
    if (why != reason::none) return why;
    p.blocks.dst_counts.assign(counts, counts + of.size);
    describing::reduction_sides(p, in, *all, out, p.blocks.dst_counts[of.rank]);
    return reason::none;
}

}  // namespace ucg::mpi
