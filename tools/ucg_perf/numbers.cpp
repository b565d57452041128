#include "tools/ucg_perf/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ucg/reduce/narrow_float.hpp"

namespace tools::ucg_perf {
namespace {

using ucg::reduce::bf16_format;
using ucg::reduce::e4m3_format;
using ucg::reduce::e5m2_format;
using ucg::reduce::fp16_format;

bool is_complex(ucg_type_t type) noexcept {
    return type == UCG_TYPE_COMPLEX32 || type == UCG_TYPE_COMPLEX64;
}

bool has_index(ucg_type_t type) noexcept {
    return type >= UCG_TYPE_INT16_AT && type <= UCG_TYPE_FP64_AT;
}

bool is_integer(ucg_type_t type) noexcept {
    return type >= UCG_TYPE_INT8 && type <= UCG_TYPE_UINT64;
}

// Returns whether the type can add bytes of thousands of ranks without rounding or overflow.
bool is_wide(ucg_type_t type) noexcept {
    switch (type) {
        case UCG_TYPE_INT32:
        case UCG_TYPE_INT64:
        case UCG_TYPE_UINT32:
        case UCG_TYPE_UINT64:
        case UCG_TYPE_FP32:
        case UCG_TYPE_FP64:
        case UCG_TYPE_COMPLEX32:
        case UCG_TYPE_COMPLEX64:
            return true;
        default:
            return false;
    }
}

// Distance of adjacent values near 1, and the smallest value above 0.
struct precision {
    double step = 0;
    double least = 0;
};

template<class Format>
constexpr precision precision_of() noexcept {
    const int smallest = 1 - Format::bias - Format::mantissa;
    return {std::ldexp(1.0, -Format::mantissa), std::ldexp(1.0, smallest)};
}

precision precision_of(ucg_type_t type) noexcept {
    switch (type) {
        case UCG_TYPE_FP16:
            return precision_of<fp16_format>();
        case UCG_TYPE_BF16:
            return precision_of<bf16_format>();
        case UCG_TYPE_FP8_E4M3:
            return precision_of<e4m3_format>();
        case UCG_TYPE_FP8_E5M2:
            return precision_of<e5m2_format>();
        case UCG_TYPE_FP32:
        case UCG_TYPE_COMPLEX32:
            return {std::ldexp(1.0, -23), 0};
        case UCG_TYPE_FP64:
        case UCG_TYPE_COMPLEX64:
            return {std::ldexp(1.0, -52), 0};
        default:
            return {};
    }
}

template<class T>
void put(void* to, double value, std::size_t offset = 0) noexcept {
    const T as = static_cast<T>(value);
    std::memcpy(static_cast<char*>(to) + offset, &as, sizeof as);
}

template<class T>
double take(const void* from, std::size_t offset = 0) noexcept {
    T as;
    std::memcpy(&as, static_cast<const char*>(from) + offset, sizeof as);
    return static_cast<double>(as);
}

template<class Format>
void put_narrow(void* to, double value) noexcept {
    const auto bits = ucg::reduce::narrow<Format>(static_cast<float>(value));
    std::memcpy(to, &bits, sizeof bits);
}

template<class Format>
double take_narrow(const void* from) noexcept {
    typename Format::bits bits;
    std::memcpy(&bits, from, sizeof bits);
    return static_cast<double>(ucg::reduce::widen<Format>(bits));
}

// A value and an index, in the layout of a C struct.
template<class T>
struct value_with_index {
    T value;
    std::int32_t index;
};

template<class T>
void put_at(void* to, const number& value) noexcept {
    value_with_index<T> as;
    std::memset(&as, 0, sizeof as);
    as.value = static_cast<T>(value.value);
    as.index = static_cast<std::int32_t>(value.second);
    std::memcpy(to, &as, sizeof as);
}

template<class T>
number take_at(const void* from) noexcept {
    value_with_index<T> as;
    std::memcpy(&as, from, sizeof as);
    return {static_cast<double>(as.value), static_cast<double>(as.index)};
}

std::uint64_t whole(double value) noexcept {
    return static_cast<std::uint64_t>(value);
}

}  // namespace

std::uint64_t mix(std::uint64_t one, std::uint64_t other) noexcept {
    std::uint64_t all = (one + 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU;
    all ^= (all >> 32U) + other;
    all *= 0xc4ceb9fe1a85ec53U;
    return all ^ (all >> 29U);
}

numbers::numbers(ucg_type_t type, ucg_op_t op, std::uint32_t ranks) noexcept
    : type_(type), op_(op), ranks_(ranks), element_(ucg_type_size(type)) {}

// `noise` is the same on all ranks. If an operation allows few ranks a value of their own, `noise`
// selects these ranks.
double numbers::part(std::uint64_t noise, std::uint32_t rank) const noexcept {
    const std::uint64_t own = mix(noise, rank);
    const std::uint64_t turn = (noise / 16 + rank) % ranks_;
    switch (op_) {
        case UCG_OP_SUM:
        case UCG_OP_AVERAGE:
            if (is_wide(type_)) return static_cast<double>(own % 256);
            return turn < 1 + noise % 8 ? 1 : 0;
        case UCG_OP_PRODUCT:
            return turn < noise % 4 ? 2 : 1;
        case UCG_OP_LOGICAL_AND:
            return turn == 0 && noise % 2 == 0 ? 0 : static_cast<double>(1 + own % 7);
        case UCG_OP_LOGICAL_OR:
            return turn == 0 && noise % 2 == 0 ? static_cast<double>(1 + own % 7) : 0;
        case UCG_OP_BITWISE_AND:
            return static_cast<double>(127 & ~(turn < 3 ? own % 128 : 0));
        case UCG_OP_BITWISE_OR:
            return turn < 3 ? static_cast<double>(own % 128) : 0;
        case UCG_OP_LOGICAL_XOR:
            return static_cast<double>(own % 3);
        case UCG_OP_BITWISE_XOR:
            return static_cast<double>(own % 128);
        default:
            return static_cast<double>(own % (is_wide(type_) ? 256 : 8));
    }
}

number numbers::given(std::uint64_t index, std::uint64_t round, std::uint32_t rank) const noexcept {
    const std::uint64_t noise = mix(round, index);
    if (has_index(type_)) {
        return {part(noise, rank), static_cast<double>(mix(noise + 1, rank) % 1000)};
    }
    // A product of two numbers with imaginary parts could have more digits than either.
    if (!is_complex(type_) || op_ == UCG_OP_PRODUCT) return {part(noise, rank), 0};
    return {part(noise, rank), part(mix(noise, round), rank)};
}

double numbers::combine(double one, double other) const noexcept {
    switch (op_) {
        case UCG_OP_SUM:
        case UCG_OP_AVERAGE:
            return one + other;
        case UCG_OP_PRODUCT:
            return one * other;
        case UCG_OP_MIN:
            return std::min(one, other);
        case UCG_OP_MAX:
            return std::max(one, other);
        case UCG_OP_LOGICAL_AND:
            return one != 0 && other != 0 ? 1 : 0;
        case UCG_OP_LOGICAL_OR:
            return one != 0 || other != 0 ? 1 : 0;
        case UCG_OP_LOGICAL_XOR:
            return (one != 0) != (other != 0) ? 1 : 0;
        case UCG_OP_BITWISE_AND:
            return static_cast<double>(whole(one) & whole(other));
        case UCG_OP_BITWISE_OR:
            return static_cast<double>(whole(one) | whole(other));
        default:
            return static_cast<double>(whole(one) ^ whole(other));
    }
}

number numbers::combine(const number& one, const number& other) const noexcept {
    if (has_index(type_)) {
        if (one.value == other.value) return {one.value, std::min(one.second, other.second)};
        return (one.value < other.value) == (op_ == UCG_OP_MIN_AT) ? one : other;
    }
    if (op_ == UCG_OP_PRODUCT) return {one.value * other.value, 0};
    return {combine(one.value, other.value), is_complex(type_) ? one.second + other.second : 0};
}

number numbers::reduced(std::uint64_t index, std::uint64_t round,
                        std::uint32_t rank_count) const noexcept {
    number all = given(index, round, 0);
    for (std::uint32_t rank = 1; rank < rank_count; ++rank)
        all = combine(all, given(index, round, rank));
    if (op_ != UCG_OP_AVERAGE) return all;
    all = {all.value / ranks_, all.second / ranks_};
    return is_integer(type_) ? number{std::trunc(all.value), 0} : all;
}

bool numbers::matches(const number& got, const number& correct) const noexcept {
    if (op_ != UCG_OP_AVERAGE || is_integer(type_))
        return got.value == correct.value && got.second == correct.second;
    const precision type_precision = precision_of(type_);
    const auto near = [&type_precision](double one, double other) {
        return std::abs(one - other) <=
               2 * type_precision.step * std::abs(other) + type_precision.least;
    };
    return near(got.value, correct.value) && near(got.second, correct.second);
}

void numbers::store(void* to, const number& value) const noexcept {
    switch (type_) {
        case UCG_TYPE_INT8:
            return put<std::int8_t>(to, value.value);
        case UCG_TYPE_INT16:
            return put<std::int16_t>(to, value.value);
        case UCG_TYPE_INT32:
            return put<std::int32_t>(to, value.value);
        case UCG_TYPE_INT64:
            return put<std::int64_t>(to, value.value);
        case UCG_TYPE_UINT8:
            return put<std::uint8_t>(to, value.value);
        case UCG_TYPE_UINT16:
            return put<std::uint16_t>(to, value.value);
        case UCG_TYPE_UINT32:
            return put<std::uint32_t>(to, value.value);
        case UCG_TYPE_UINT64:
            return put<std::uint64_t>(to, value.value);
        case UCG_TYPE_FP16:
            return put_narrow<fp16_format>(to, value.value);
        case UCG_TYPE_BF16:
            return put_narrow<bf16_format>(to, value.value);
        case UCG_TYPE_FP8_E4M3:
            return put_narrow<e4m3_format>(to, value.value);
        case UCG_TYPE_FP8_E5M2:
            return put_narrow<e5m2_format>(to, value.value);
        case UCG_TYPE_FP32:
            return put<float>(to, value.value);
        case UCG_TYPE_FP64:
            return put<double>(to, value.value);
        case UCG_TYPE_COMPLEX32:
            put<float>(to, value.value);
            return put<float>(to, value.second, sizeof(float));
        case UCG_TYPE_COMPLEX64:
            put<double>(to, value.value);
            return put<double>(to, value.second, sizeof(double));
        case UCG_TYPE_INT16_AT:
            return put_at<std::int16_t>(to, value);
        case UCG_TYPE_INT32_AT:
            return put_at<std::int32_t>(to, value);
        case UCG_TYPE_INT64_AT:
            return put_at<std::int64_t>(to, value);
        case UCG_TYPE_FP32_AT:
            return put_at<float>(to, value);
        case UCG_TYPE_FP64_AT:
            return put_at<double>(to, value);
        default:
            return;
    }
}

number numbers::load(const void* from) const noexcept {
    switch (type_) {
        case UCG_TYPE_INT8:
            return {take<std::int8_t>(from), 0};
        case UCG_TYPE_INT16:
            return {take<std::int16_t>(from), 0};
        case UCG_TYPE_INT32:
            return {take<std::int32_t>(from), 0};
        case UCG_TYPE_INT64:
            return {take<std::int64_t>(from), 0};
        case UCG_TYPE_UINT8:
            return {take<std::uint8_t>(from), 0};
        case UCG_TYPE_UINT16:
            return {take<std::uint16_t>(from), 0};
        case UCG_TYPE_UINT32:
            return {take<std::uint32_t>(from), 0};
        case UCG_TYPE_UINT64:
            return {take<std::uint64_t>(from), 0};
        case UCG_TYPE_FP16:
            return {take_narrow<fp16_format>(from), 0};
        case UCG_TYPE_BF16:
            return {take_narrow<bf16_format>(from), 0};
        case UCG_TYPE_FP8_E4M3:
            return {take_narrow<e4m3_format>(from), 0};
        case UCG_TYPE_FP8_E5M2:
            return {take_narrow<e5m2_format>(from), 0};
        case UCG_TYPE_FP32:
            return {take<float>(from), 0};
        case UCG_TYPE_FP64:
            return {take<double>(from), 0};
        case UCG_TYPE_COMPLEX32:
            return {take<float>(from), take<float>(from, sizeof(float))};
        case UCG_TYPE_COMPLEX64:
            return {take<double>(from), take<double>(from, sizeof(double))};
        case UCG_TYPE_INT16_AT:
            return take_at<std::int16_t>(from);
        case UCG_TYPE_INT32_AT:
            return take_at<std::int32_t>(from);
        case UCG_TYPE_INT64_AT:
            return take_at<std::int64_t>(from);
        case UCG_TYPE_FP32_AT:
            return take_at<float>(from);
        case UCG_TYPE_FP64_AT:
            return take_at<double>(from);
        default:
            return {};
    }
}

}  // namespace tools::ucg_perf
