// The loops of all kernels. One file for each instruction set includes this header. Everything has
// internal linkage and no library function is called, so that the linker cannot replace the code of
// one build by that of another.
//
// A block of the result stays in the first-level cache while one source after the other is reduced
// into it. So each source is read once and the result is written once, for any number of sources.
#pragma once

#include <type_traits>

#include "ucg/reduce/kernel.hpp"
#include "ucg/reduce/types.hpp"

namespace ucg::reduce {
namespace {

// --- operations ---

// Sums and products of integers wrap around.
template<class T>
using wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct add {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
        } else {
            return a + b;
        }
    }
    template<class T>
    [[gnu::always_inline]] static complex_of<T> apply(complex_of<T> a, complex_of<T> b) noexcept {
        return {a.real + b.real, a.imaginary + b.imaginary};
    }
};

struct multiply {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
        } else {
            return a * b;
        }
    }
    template<class T>
    [[gnu::always_inline]] static complex_of<T> apply(complex_of<T> a, complex_of<T> b) noexcept {
        return {a.real * b.real - a.imaginary * b.imaginary,
                a.real * b.imaginary + a.imaginary * b.real};
    }
};

struct smaller {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return b < a ? b : a;
    }
    template<class T>
    [[gnu::always_inline]] static value_at<T> apply(value_at<T> a, value_at<T> b) noexcept {
        const bool takes = b.value < a.value || (b.value == a.value && b.location < a.location);
        return takes ? b : a;
    }
};

struct larger {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return a < b ? b : a;
    }
    template<class T>
    [[gnu::always_inline]] static value_at<T> apply(value_at<T> a, value_at<T> b) noexcept {
        const bool takes = a.value < b.value || (b.value == a.value && b.location < a.location);
        return takes ? b : a;
    }
};

struct both {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return static_cast<T>((a != 0) & (b != 0));
    }
};
struct either {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return static_cast<T>((a != 0) | (b != 0));
    }
};
struct only_one {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return static_cast<T>((a != 0) != (b != 0));
    }
};
struct bits_of_both {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return static_cast<T>(a & b);
    }
};
struct bits_of_either {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return static_cast<T>(a | b);
    }
};
struct bits_of_one {
    template<class T>
    [[gnu::always_inline]] static T apply(T a, T b) noexcept {
        return static_cast<T>(a ^ b);
    }
};

template<class T>
[[gnu::always_inline]] inline T divided(T sum, std::uint64_t divisor) noexcept {
    if constexpr (std::is_integral_v<T>) {
        using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        return static_cast<T>(static_cast<wide>(sum) / static_cast<wide>(divisor));
    } else {
        return sum / static_cast<T>(divisor);
    }
}
template<class T>
[[gnu::always_inline]] inline complex_of<T> divided(complex_of<T> sum,
                                                    std::uint64_t divisor) noexcept {
    return {divided(sum.real, divisor), divided(sum.imaginary, divisor)};
}
template<class T>
[[gnu::always_inline]] inline value_at<T> divided(value_at<T> sum, std::uint64_t) noexcept {
    return sum;
}

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
kernel arithmetic(operation op) noexcept {
    switch (op) {
        case operation::sum:
        case operation::average:
            return reduce<As, add>;
        case operation::product:
            return reduce<As, multiply>;
        default:
            return nullptr;
    }
}

template<class As>
kernel ordered(operation op) noexcept {
    switch (op) {
        case operation::minimum:
            return reduce<As, smaller>;
        case operation::maximum:
            return reduce<As, larger>;
        default:
            return arithmetic<As>(op);
    }
}

template<class As>
kernel of_integers(operation op) noexcept {
    switch (op) {
        case operation::logical_and:
            return reduce<As, both>;
        case operation::logical_or:
            return reduce<As, either>;
        case operation::logical_xor:
            return reduce<As, only_one>;
        case operation::bitwise_and:
            return reduce<As, bits_of_both>;
        case operation::bitwise_or:
            return reduce<As, bits_of_either>;
        case operation::bitwise_xor:
            return reduce<As, bits_of_one>;
        default:
            return ordered<As>(op);
    }
}

template<class As>
kernel of_locations(operation op) noexcept {
    if (op == operation::minimum_at) return reduce<As, smaller>;
    return op == operation::maximum_at ? reduce<As, larger> : nullptr;
}

[[maybe_unused]] kernel find(element type, operation op) noexcept {
    return visit(type, [op]<class As>(As) -> kernel {
        if constexpr (As::kind == family::integer)
            return of_integers<As>(op);
        else if constexpr (As::kind == family::real)
            return ordered<As>(op);
        else if constexpr (As::kind == family::complex)
            return arithmetic<As>(op);
        else
            return of_locations<As>(op);
    });
}

}  // namespace
}  // namespace ucg::reduce
