// The loops of all kernels. One file for each instruction set includes this header. Everything has
// internal linkage or is inlined, and no library function is called, so that the linker cannot
// replace the code of one build by that of another.
//
// A block of the result stays in the first-level cache while one source after the other is reduced
// into it. So each source is read once and the result is written once, for any number of sources.
#pragma once

#include <type_traits>

#include "ucg/reduce/kernel.hpp"
#include "ucg/reduce/operators.hpp"
#include "ucg/reduce/types.hpp"

namespace ucg::reduce {
namespace {

// --- the loops ---

template<class As, class Op>
void reduce(const job& job) noexcept {
    using stored = typename As::stored;
    using worked = typename As::worked;
    auto* const into = static_cast<stored*>(job.into);
    const auto source = [&](std::size_t i) { return static_cast<const stored*>(job.from[i]); };
    if constexpr (std::is_same_v<stored, worked> && std::is_arithmetic_v<stored>) {
        if (job.sources == 2 && job.divisor == 0) {
            const stored* const a = source(0);
            const stored* const b = source(1);
            const std::size_t count =
                job.count;  // a local copy, because stores of bytes might alias job.count
            // The result is equal to a source or does not overlap it, so iterations are
            // independent. Clang warns about the pragma if it optimizes less.
#if !defined(__clang__)
#pragma GCC ivdep
#endif
            for (std::size_t i = 0; i < count; ++i)
                into[i] = Op::apply(a[i], b[i]);
            return;
        }
    }
    constexpr std::size_t block = 4096 / sizeof(worked);
    alignas(64) worked result[block];
    for (std::size_t first = 0; first < job.count; first += block) {
        const std::size_t left = job.count - first;
        const std::size_t count = left < block ? left : block;
        const stored* const begin = source(0) + first;
        for (std::size_t i = 0; i < count; ++i)
            result[i] = As::take(begin[i]);
        for (std::size_t k = 1; k < job.sources; ++k) {
            const stored* const next = source(k) + first;
            for (std::size_t i = 0; i < count; ++i)
                result[i] = Op::apply(result[i], As::take(next[i]));
        }
        if (job.divisor != 0) {
            for (std::size_t i = 0; i < count; ++i)
                result[i] = divided(result[i], job.divisor);
        }
        stored* const end = into + first;
        for (std::size_t i = 0; i < count; ++i)
            end[i] = As::give(result[i]);
    }
}

// --- choice of the kernel ---

template<class As>
kernel find_for(operation op) noexcept {
    switch (op) {
#define UCG_REDUCE_CASE(name, Op)                                                   \
    case operation::name:                                                           \
        if constexpr (is_defined(As::kind, operation::name)) return reduce<As, Op>; \
        break;
        UCG_REDUCE_OPERATORS(UCG_REDUCE_CASE)
#undef UCG_REDUCE_CASE
    }
    return nullptr;
}

[[maybe_unused]] kernel find(element type, operation op) noexcept {
    return visit(type, [op]<class As>(As) { return find_for<As>(op); });
}

}  // namespace
}  // namespace ucg::reduce
