#include "ucg/reference/values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ucg::reference {
namespace {

using reduce::family;

template<class Visitor>
auto visit(ucg_type_t type, const Visitor& visitor) {
    return reduce::visit(static_cast<reduce::element>(type), visitor);
}

template<class As>
concept narrow = requires {
    typename As::format;
};

std::uint64_t whole(double value) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

double bitwise(ucg_op_t op, double one, double other) noexcept {
    const std::uint64_t a = whole(one), b = whole(other);
    const std::uint64_t both = op == UCG_OP_BITWISE_AND  ? a & b
                               : op == UCG_OP_BITWISE_OR ? a | b
                                                         : a ^ b;
    return static_cast<double>(both);
}

}  // namespace

std::uint64_t mix(std::uint64_t one, std::uint64_t other) noexcept {
    std::uint64_t all = (one + 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU;
    all ^= (all >> 32U) + other;
    all *= 0xc4ceb9fe1a85ec53U;
    return all ^ (all >> 29U);
}

numbers::precision numbers::precision_of(ucg_type_t type) noexcept {
    if (type == UCG_TYPE_OPAQUE) return {};
    return visit(type, []<class As>(As) -> precision {
        using worked = typename As::worked;
        if constexpr (narrow<As>) {
            using format = typename As::format;
            constexpr int smallest = 1 - format::bias - format::mantissa;
            return {As::kind, true, format::mantissa + 1, std::ldexp(1.0, -format::mantissa),
                    std::ldexp(1.0, smallest)};
        } else if constexpr (As::kind == family::integer) {
            using limits = std::numeric_limits<worked>;
            return {As::kind, limits::is_signed, std::min(limits::digits, 52)};
        } else if constexpr (As::kind == family::real) {
            using limits = std::numeric_limits<worked>;
            return {As::kind, true, std::min(limits::digits, 52), limits::epsilon()};
        } else if constexpr (As::kind == family::complex) {
            using limits = std::numeric_limits<decltype(worked::real)>;
            return {As::kind, true, std::min(limits::digits, 52), limits::epsilon()};
        } else {
            return {As::kind, true, 3};
        }
    });
}

numbers::numbers(ucg_type_t type, ucg_op_t op, rank_t ranks) noexcept
    : op_(op), ranks_(ranks), precision_(precision_of(type)) {}

// `noise` is the same on all ranks. If an operation allows few ranks a value of their own, `noise`
// selects these ranks.
std::int64_t numbers::part(std::uint64_t noise, rank_t rank) const noexcept {
    const std::uint64_t own = mix(noise, rank);
    const std::uint64_t turn = (noise / 16 + rank) % ranks_;
    const precision& type = precision_;
    const auto below = [&](int bits) {
        const auto all = static_cast<std::int64_t>(own >> (64 - bits));
        return type.has_sign ? all - (std::int64_t{1} << (bits - 1)) : all;
    };
    const std::uint64_t bits = (std::uint64_t{1} << type.bits) - 1;
    const auto positive = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    constexpr int rank_bits = 16;  // a sum over so many ranks is exact
    switch (op_) {
        case UCG_OP_SUM:
        case UCG_OP_AVERAGE:
            if (type.bits >= rank_bits + 8) return below(type.bits - rank_bits);
            if (turn >= 1 + noise % 8) return 0;
            return type.has_sign && own % 4 == 0 ? -1 : 1;
        case UCG_OP_PRODUCT: {
            const std::int64_t factor = turn < noise % 4 ? 2 : 1;
            const bool is_negative = type.has_sign && type.kind != family::complex && own % 5 == 0;
            return is_negative ? -factor : factor;
        }
        case UCG_OP_LOGICAL_AND:
            return turn == 0 && noise % 2 == 0 ? 0 : positive(1 + own % 7);
        case UCG_OP_LOGICAL_OR:
            return turn == 0 && noise % 2 == 0 ? positive(1 + own % 7) : 0;
        case UCG_OP_LOGICAL_XOR:
            return positive(own % 3);
        case UCG_OP_BITWISE_AND:
            return positive(bits & ~(turn < 3 ? own : 0));
        case UCG_OP_BITWISE_OR:
            return turn < 3 ? positive(own & bits) : 0;
        case UCG_OP_BITWISE_XOR:
            return positive(own & bits);
        default:
            return below(std::min(type.bits, 8));
    }
}

number numbers::given(std::uint64_t index, std::uint64_t round, rank_t rank) const noexcept {
    const std::uint64_t noise = mix(round, index);
    const auto first = static_cast<double>(part(noise, rank));
    switch (precision_.kind) {
        case family::with_location:
            return {first, static_cast<double>(mix(noise + 1, rank) % 1000)};
        case family::complex:
            // A product of many numbers with imaginary parts could have too many digits.
            if (op_ == UCG_OP_PRODUCT) return {first, rank == 0 ? first : 0};
            return {first, static_cast<double>(part(mix(noise, round), rank))};
        default:
            return {first, 0};
    }
}

number numbers::combine(const number& one, const number& other) const noexcept {
    const double a = one.value, b = other.value;
    switch (op_) {
        case UCG_OP_SUM:
        case UCG_OP_AVERAGE:
            return {a + b, one.second + other.second};
        case UCG_OP_PRODUCT:
            return {a * b - one.second * other.second, a * other.second + one.second * b};
        case UCG_OP_MIN:
            return {std::min(a, b), 0};
        case UCG_OP_MAX:
            return {std::max(a, b), 0};
        case UCG_OP_MIN_AT:
        case UCG_OP_MAX_AT:
            if (a == b) return {a, std::min(one.second, other.second)};
            return (a < b) == (op_ == UCG_OP_MIN_AT) ? one : other;
        case UCG_OP_LOGICAL_AND:
            return {a != 0 && b != 0 ? 1.0 : 0.0, 0};
        case UCG_OP_LOGICAL_OR:
            return {a != 0 || b != 0 ? 1.0 : 0.0, 0};
        case UCG_OP_LOGICAL_XOR:
            return {(a != 0) != (b != 0) ? 1.0 : 0.0, 0};
        default:
            return {bitwise(op_, a, b), 0};
    }
}

number numbers::reduced(std::uint64_t index, std::uint64_t round,
                        rank_t rank_count) const noexcept {
    number all = given(index, round, 0);
    for (rank_t rank = 1; rank < rank_count; ++rank)
        all = combine(all, given(index, round, rank));
    if (op_ != UCG_OP_AVERAGE) return all;
    all = {all.value / ranks_, all.second / ranks_};
    return precision_.kind == family::integer ? number{std::trunc(all.value), 0} : all;
}

bool numbers::matches(const number& got, const number& correct) const noexcept {
    const precision& type = precision_;
    if (op_ != UCG_OP_AVERAGE || type.kind == family::integer) return got == correct;
    const auto near = [&type](double one, double other) {
        return std::abs(one - other) <= 2 * type.step * std::abs(other) + type.least;
    };
    return near(got.value, correct.value) && near(got.second, correct.second);
}

void store(ucg_type_t type, void* to, const number& value) noexcept {
    visit(type, [&]<class As>(As) {
        typename As::stored bits;
        std::memset(&bits, 0, sizeof bits);
        if constexpr (As::kind == family::complex) {
            using part = decltype(bits.real);
            bits = {static_cast<part>(value.value), static_cast<part>(value.second)};
        } else if constexpr (As::kind == family::with_location) {
            bits.value = static_cast<decltype(bits.value)>(value.value);
            bits.location = static_cast<std::int32_t>(value.second);
        } else {
            bits = As::give(static_cast<typename As::worked>(value.value));
        }
        std::memcpy(to, &bits, sizeof bits);
    });
}

number load(ucg_type_t type, const void* from) noexcept {
    return visit(type, [&]<class As>(As) -> number {
        typename As::stored bits;
        std::memcpy(&bits, from, sizeof bits);
        if constexpr (As::kind == family::complex)
            return {static_cast<double>(bits.real), static_cast<double>(bits.imaginary)};
        else if constexpr (As::kind == family::with_location)
            return {static_cast<double>(bits.value), static_cast<double>(bits.location)};
        else
            return {static_cast<double>(As::take(bits)), 0};
    });
}

void word_operator::combine(const void* in, void* inout, std::uint64_t count) const noexcept {
    for (std::uint64_t i = 0; i < count * words; ++i) {
        std::uint64_t left = 0, right = 0;
        std::memcpy(&left, static_cast<const std::byte*>(in) + 8 * i, 8);
        std::memcpy(&right, static_cast<std::byte*>(inout) + 8 * i, 8);
        if (commutative) {
            right += left;
        } else {
            const auto a = static_cast<std::uint32_t>(left), c = static_cast<std::uint32_t>(right);
            const auto b = static_cast<std::uint32_t>(left >> 32U);
            const std::uint32_t sum = c * b + static_cast<std::uint32_t>(right >> 32U);
            right = std::uint64_t{sum} << 32U | a * c;
        }
        std::memcpy(static_cast<std::byte*>(inout) + 8 * i, &right, 8);
    }
}

void word_operator::function(const void* in, void* inout, std::uint64_t count, void* arg) noexcept {
    static_cast<const word_operator*>(arg)->combine(in, inout, count);
}

}  // namespace ucg::reference
