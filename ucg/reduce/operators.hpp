// The operations of reductions on two elements.
//
// All functions are constexpr, so that the kernels of a GPU call them, too (ucg/cuda/kernels). They
// are always inlined and call no library function: the callers are compiled for several instruction
// sets, and the code for one of them must not be linked into another one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ucg/reduce/types.hpp"

namespace ucg::reduce {

// Sums and products of integers wrap around.
template<class T>
using wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct add {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
        } else {
            return a + b;
        }
    }
    template<class T>
    [[gnu::always_inline]] static constexpr complex_of<T> apply(complex_of<T> a,
                                                                complex_of<T> b) noexcept {
        return {a.real + b.real, a.imaginary + b.imaginary};
    }
};

struct multiply {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
        } else {
            return a * b;
        }
    }
    template<class T>
    [[gnu::always_inline]] static constexpr complex_of<T> apply(complex_of<T> a,
                                                                complex_of<T> b) noexcept {
        return {a.real * b.real - a.imaginary * b.imaginary,
                a.real * b.imaginary + a.imaginary * b.real};
    }
};

struct smaller {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return b < a ? b : a;
    }
    template<class T>
    [[gnu::always_inline]] static constexpr value_at<T> apply(value_at<T> a,
                                                              value_at<T> b) noexcept {
        const bool takes = b.value < a.value || (b.value == a.value && b.location < a.location);
        return takes ? b : a;
    }
};

struct larger {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return a < b ? b : a;
    }
    template<class T>
    [[gnu::always_inline]] static constexpr value_at<T> apply(value_at<T> a,
                                                              value_at<T> b) noexcept {
        const bool takes = a.value < b.value || (b.value == a.value && b.location < a.location);
        return takes ? b : a;
    }
};

struct both {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return static_cast<T>((a != 0) & (b != 0));
    }
};
struct either {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return static_cast<T>((a != 0) | (b != 0));
    }
};
struct only_one {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return static_cast<T>((a != 0) != (b != 0));
    }
};
struct bits_of_both {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return static_cast<T>(a & b);
    }
};
struct bits_of_either {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return static_cast<T>(a | b);
    }
};
struct bits_of_one {
    template<class T>
    [[gnu::always_inline]] static constexpr T apply(T a, T b) noexcept {
        return static_cast<T>(a ^ b);
    }
};

template<class T>
[[gnu::always_inline]] constexpr T divided(T sum, std::uint64_t divisor) noexcept {
    if constexpr (std::is_integral_v<T>) {
        using wide = std::conditional_t<
            sizeof(T) == 8, T,
            std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>;
        return static_cast<T>(static_cast<wide>(sum) / static_cast<wide>(divisor));
    } else {
        return sum / static_cast<T>(divisor);
    }
}
template<class T>
[[gnu::always_inline]] constexpr complex_of<T> divided(complex_of<T> sum,
                                                       std::uint64_t divisor) noexcept {
    return {divided(sum.real, divisor), divided(sum.imaginary, divisor)};
}
template<class T>
[[gnu::always_inline]] constexpr value_at<T> divided(value_at<T> sum, std::uint64_t) noexcept {
    return sum;
}

// clang-format off
// X(operation, class). An average is a sum that the last step divides by the number of sources.
#define UCG_REDUCE_OPERATORS(X)    \
    X(sum, add)                    \
    X(product, multiply)           \
    X(minimum, smaller)            \
    X(maximum, larger)             \
    X(average, add)                \
    X(logical_and, both)           \
    X(logical_or, either)          \
    X(logical_xor, only_one)       \
    X(bitwise_and, bits_of_both)   \
    X(bitwise_or, bits_of_either)  \
    X(bitwise_xor, bits_of_one)    \
    X(minimum_at, smaller)         \
    X(maximum_at, larger)
// clang-format on

}  // namespace ucg::reduce
