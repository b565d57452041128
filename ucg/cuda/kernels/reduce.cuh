// Reduction of the slices of all ranks, for every type and operation of ucg/reduce.
//
// The result has the bits of ucg/reduce with the ranks as sources in their order: narrow types are
// added in fp32, an average is divided, and the result is rounded once. The compiler may not fuse
// products and sums (-fmad=false). Only the bits of a NaN may differ.
//
// There are 118 pairs of type and operation. Each is one function, which all kernels call, because
// copies in every kernel would multiply the time of compilation and the size of the image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/cuda/kernels/parameters.hpp"
#include "ucg/cuda/kernels/portable.cuh"
#include "ucg/cuda/kernels/vector.cuh"
#include "ucg/reduce/operators.hpp"
#include "ucg/reduce/types.hpp"

namespace ucg::cuda::kernels {

// A piece of the vector: into = areas[0] + offset op areas[1] + offset op … of all ranks. `into`
// may be one of these. `offset` is a multiple of vector_bytes.
struct piece {
    std::byte* into;
    std::uint64_t offset;
    std::uint64_t bytes;
};

// The elements of a vector, as they are in memory and in computations.
template<class As>
struct elements_of {
    static constexpr unsigned count = vector_bytes / sizeof(typename As::stored);
    struct stored {
        typename As::stored values[count];
    };
    struct worked {
        typename As::worked values[count];
    };
};

template<class As>
UCG_DEVICE typename elements_of<As>::worked widened(const vector& from) {
    using elements = elements_of<As>;
    const auto bits = __builtin_bit_cast(typename elements::stored, from);
    typename elements::worked result;
    UCG_UNROLL
    for (unsigned i = 0; i < elements::count; ++i)
        result.values[i] = As::take(bits.values[i]);
    return result;
}

template<class As>
UCG_DEVICE vector narrowed(const typename elements_of<As>::worked& from) {
    using elements = elements_of<As>;
    typename elements::stored bits;
    UCG_UNROLL
    for (unsigned i = 0; i < elements::count; ++i)
        bits.values[i] = As::give(from.values[i]);
    return __builtin_bit_cast(vector, bits);
}

// Returns the reduction of the vectors at `offset` of all ranks. A load from another device takes
// long, so the next one is in flight while a vector is added.
template<class As, class Op>
UCG_DEVICE typename elements_of<As>::worked reduced(const parameters& args, std::uint64_t offset) {
    auto result = widened<As>(load(args.areas[0] + offset));
    vector next = load(args.areas[args.ranks > 1 ? 1 : 0] + offset);
    UCG_ROLL
    for (std::uint32_t rank = 1; rank < args.ranks; ++rank) {
        const auto operand = widened<As>(next);
        next = load(args.areas[rank + 1 < args.ranks ? rank + 1 : rank] + offset);
        UCG_UNROLL
        for (unsigned i = 0; i < elements_of<As>::count; ++i)
            result.values[i] = Op::apply(result.values[i], operand.values[i]);
    }
    return result;
}

// Reduces a piece by all threads of the block, without a barrier. At the end of the piece, it loads
// whole vectors from the slices as well, and stores only the bytes of the piece.
template<class As, class Op>
UCG_DEVICE_CALL void reduce_as(const parameters& args, const piece& part) {
    const std::uint64_t stride = std::uint64_t{thread_count()} * vector_bytes;
    std::uint64_t position = std::uint64_t{thread_index()} * vector_bytes;
    UCG_ROLL
    for (; position < part.bytes; position += stride) {
        auto result = reduced<As, Op>(args, part.offset + position);
        if constexpr (std::is_same_v<Op, reduce::add>) {
            if (args.op == reduce::operation::average) {
                UCG_UNROLL
                for (unsigned i = 0; i < elements_of<As>::count; ++i)
                    result.values[i] = reduce::divided(result.values[i], args.ranks);
            }
        }
        store_some(part.into + position, narrowed<As>(result), vector_length(part.bytes, position));
    }
}

template<class As>
UCG_DEVICE void reduce_elements(const parameters& args, const piece& part) {
    switch (args.op) {
#define UCG_CUDA_CASE(name, Op)                                              \
    case reduce::operation::name:                                            \
        if constexpr (reduce::is_defined(As::kind, reduce::operation::name)) \
            reduce_as<As, reduce::Op>(args, part);                           \
        return;
        UCG_REDUCE_OPERATORS(UCG_CUDA_CASE)
#undef UCG_CUDA_CASE
    }
}

// Reduces a piece of all ranks' slices by all threads of the block, without a barrier.
UCG_DEVICE_CALL void reduce_piece(const parameters& args, const piece& part) {
    switch (args.type) {
#define UCG_CUDA_CASE(name, ...)                                 \
    case reduce::element::name: {                                \
        using namespace reduce;                                  \
        return reduce_elements<reduce::__VA_ARGS__>(args, part); \
    }
        UCG_REDUCE_TYPES(UCG_CUDA_CASE)
#undef UCG_CUDA_CASE
    }
}

}  // namespace ucg::cuda::kernels
