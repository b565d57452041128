#include "test/sim/ucg/number.hpp"

#include <algorithm>
#include <cstring>

#include "ucg/reduce/narrow_float.hpp"
#include "ucs/sys/random.hpp"

namespace group_sim {

namespace {

using namespace ucg::reduce;

bool is_unsigned(ucg_type_t type) noexcept {
    return type >= UCG_TYPE_UINT8 && type <= UCG_TYPE_UINT64;
}
bool is_integer(ucg_type_t type) noexcept {
    return type >= UCG_TYPE_INT8 && type <= UCG_TYPE_UINT64;
}
bool is_complex(ucg_type_t type) noexcept {
    return type == UCG_TYPE_COMPLEX32 || type == UCG_TYPE_COMPLEX64;
}
bool is_fp8(ucg_type_t type) noexcept {
    return type == UCG_TYPE_FP8_E4M3 || type == UCG_TYPE_FP8_E5M2;
}

template<class T>
void put(T value, std::byte* into) noexcept {
    std::memcpy(into, &value, sizeof value);
}

// Sums of up to 14 summands fit into 8 bits of an integer and into the mantissa of bf16. The
// smallest type represents integers only up to 8, so only the first ranks contribute.
std::int64_t summand(ucg_type_t type, std::uint64_t word, std::uint32_t rank) noexcept {
    if (is_fp8(type)) return rank < 8 ? static_cast<std::int64_t>(word % 2) : 0;
    return static_cast<std::int64_t>(word % 13) - (is_unsigned(type) ? 0 : 6);
}

std::int64_t in_range(ucg_type_t type, std::uint64_t word) noexcept {
    if (is_integer(type)) {
        return static_cast<std::int64_t>(word % 201) - (is_unsigned(type) ? 0 : 100);
    }
    return static_cast<std::int64_t>(word % 9) - 4;
}

}  // namespace

number make_number(ucg_type_t type, ucg_op_t op, std::uint64_t name, std::uint32_t rank,
                   std::uint64_t index) noexcept {
    const std::uint64_t common = ucs::sys::mix(name ^ ucs::sys::mix(index));
    const std::uint64_t word = ucs::sys::mix(common + rank);
    const bool with_sign = !is_unsigned(type);
    switch (op) {
        case UCG_OP_SUM:
            return {summand(type, word, rank),
                    is_complex(type) ? summand(type, word >> 32U, rank) : 0};
        case UCG_OP_AVERAGE:
            // For floating-point types all ranks have the same value, so that nothing is rounded.
            if (is_integer(type)) return {summand(type, word, rank)};
            return {summand(type, common, 0),
                    is_complex(type) ? summand(type, common >> 32U, 0) : 0};
        case UCG_OP_PRODUCT: {
            const std::int64_t factor = rank < 3 && word % 3 == 0 ? 2 : 1;
            // These products give no negative zero.
            if (is_complex(type)) return {factor, rank == 0 ? factor : 0};
            return {with_sign && word % 5 == 0 ? -factor : factor};
        }
        case UCG_OP_MIN:
        case UCG_OP_MAX:
            return {in_range(type, word)};
        case UCG_OP_MIN_AT:
        case UCG_OP_MAX_AT:
            return {static_cast<std::int64_t>(word % 4), 0,
                    static_cast<std::int32_t>((word >> 32U) % 5)};
        case UCG_OP_LOGICAL_AND:
        case UCG_OP_LOGICAL_OR:
        case UCG_OP_LOGICAL_XOR:
            return {static_cast<std::int64_t>(word % 7 == 0 ? 0 : word % 3)};
        default:
            return {static_cast<std::int64_t>(word)};
    }
}

number combine(ucg_op_t op, const number& a, const number& b) noexcept {
    switch (op) {
        case UCG_OP_SUM:
        case UCG_OP_AVERAGE:
            return {a.real + b.real, a.imaginary + b.imaginary};
        case UCG_OP_PRODUCT:
            return {a.real * b.real - a.imaginary * b.imaginary,
                    a.real * b.imaginary + a.imaginary * b.real};
        case UCG_OP_MIN:
            return {std::min(a.real, b.real)};
        case UCG_OP_MAX:
            return {std::max(a.real, b.real)};
        case UCG_OP_LOGICAL_AND:
            return {a.real != 0 && b.real != 0};
        case UCG_OP_LOGICAL_OR:
            return {a.real != 0 || b.real != 0};
        case UCG_OP_LOGICAL_XOR:
            return {(a.real != 0) != (b.real != 0)};
        case UCG_OP_BITWISE_AND:
            return {a.real & b.real};
        case UCG_OP_BITWISE_OR:
            return {a.real | b.real};
        case UCG_OP_BITWISE_XOR:
            return {a.real ^ b.real};
        default: {
            if (a.real == b.real) return a.place < b.place ? a : b;
            return (a.real < b.real) == (op == UCG_OP_MIN_AT) ? a : b;
        }
    }
}

void write(ucg_type_t type, const number& value, std::byte* into) noexcept {
    const auto real = static_cast<double>(value.real);
    const auto small = static_cast<float>(real);
    switch (type) {
        case UCG_TYPE_FP16:
            return put(narrow<fp16_format>(small), into);
        case UCG_TYPE_BF16:
            return put(narrow<bf16_format>(small), into);
        case UCG_TYPE_FP8_E4M3:
            return put(narrow<e4m3_format>(small), into);
        case UCG_TYPE_FP8_E5M2:
            return put(narrow<e5m2_format>(small), into);
        case UCG_TYPE_FP32:
            return put(small, into);
        case UCG_TYPE_FP64:
            return put(real, into);
        case UCG_TYPE_COMPLEX32:
            put(small, into);
            return put(static_cast<float>(value.imaginary), into + 4);
        case UCG_TYPE_COMPLEX64:
            put(real, into);
            return put(static_cast<double>(value.imaginary), into + 8);
        case UCG_TYPE_INT16_AT:
            put(static_cast<std::int16_t>(value.real), into);
            return put(value.place, into + 4);
        case UCG_TYPE_INT32_AT:
            put(static_cast<std::int32_t>(value.real), into);
            return put(value.place, into + 4);
        case UCG_TYPE_INT64_AT:
            put(value.real, into);
            return put(value.place, into + 8);
        case UCG_TYPE_FP32_AT:
            put(small, into);
            return put(value.place, into + 4);
        case UCG_TYPE_FP64_AT:
            put(real, into);
            return put(value.place, into + 8);
        default:
            std::memcpy(into, &value.real, ucg_type_size(type));  // integers, lowest byte first
    }
}

bool is_padding(ucg_type_t type, std::size_t byte) noexcept {
    if (type == UCG_TYPE_INT16_AT) return byte == 2 || byte == 3;
    return (type == UCG_TYPE_INT64_AT || type == UCG_TYPE_FP64_AT) && byte >= 12;
}

}  // namespace group_sim
