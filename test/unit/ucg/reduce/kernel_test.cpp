// Compares every kernel of every build with a plain loop.
#include "ucg/reduce/kernel.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "ucg/reduce/types.hpp"

using namespace ucg::reduce;

namespace {

using bytes = std::vector<std::byte>;

template<class T>
T combine_integers(operation op, T a, T b) {
    using wide = __int128;
    switch (op) {
        case operation::sum:
        case operation::average:
            return static_cast<T>(wide{a} + wide{b});
        case operation::product:
            return static_cast<T>(static_cast<unsigned __int128>(wide{a}) *
                                  static_cast<unsigned __int128>(wide{b}));
        case operation::minimum:
            return b < a ? b : a;
        case operation::maximum:
            return a < b ? b : a;
        case operation::logical_and:
            return static_cast<T>(a != 0 && b != 0);
        case operation::logical_or:
            return static_cast<T>(a != 0 || b != 0);
        case operation::logical_xor:
            return static_cast<T>((a != 0) != (b != 0));
        case operation::bitwise_and:
            return static_cast<T>(a & b);
        case operation::bitwise_or:
            return static_cast<T>(a | b);
        default:
            return static_cast<T>(a ^ b);
    }
}

template<class T>
T combine(operation op, T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return combine_integers(op, a, b);
    } else {
        switch (op) {
            case operation::product:
                return a * b;
            case operation::minimum:
                return b < a ? b : a;
            case operation::maximum:
                return a < b ? b : a;
            default:
                return a + b;
        }
    }
}
template<class T>
complex_of<T> combine(operation op, complex_of<T> a, complex_of<T> b) {
    if (op != operation::product) return {a.real + b.real, a.imaginary + b.imaginary};
    const T real = a.real * b.real, rest = a.imaginary * b.imaginary;
    const T cross = a.real * b.imaginary, other = a.imaginary * b.real;
    return {real - rest, cross + other};
}
template<class T>
value_at<T> combine(operation op, value_at<T> a, value_at<T> b) {
    if (a.value == b.value) return {a.value, std::min(a.location, b.location)};
    return (op == operation::minimum_at) == (a.value < b.value) ? a : b;
}

template<class T>
T divide(T sum, std::uint64_t divisor) {
    return static_cast<T>(sum / static_cast<T>(divisor));
}
template<class T>
complex_of<T> divide(complex_of<T> sum, std::uint64_t divisor) {
    return {divide(sum.real, divisor), divide(sum.imaginary, divisor)};
}
template<class T>
value_at<T> divide(value_at<T> sum, std::uint64_t) {
    return sum;
}

bytes expected(element type, operation op, const std::vector<bytes>& from, std::uint64_t divisor) {
    return visit(type, [&]<class As>(As) {
        bytes made = from.front();
        const auto read = [](const std::byte* element_bytes) {
            typename As::stored bits;
            std::memcpy(&bits, element_bytes, sizeof bits);
            return As::take(bits);
        };
        constexpr std::size_t size = sizeof(typename As::stored);
        for (std::size_t offset = 0; offset + size <= made.size(); offset += size) {
            auto result = read(from.front().data() + offset);
            for (std::size_t k = 1; k < from.size(); ++k)
                result = combine(op, result, read(from[k].data() + offset));
            if (divisor != 0) result = divide(result, divisor);
            const auto bits = As::give(result);
            std::memcpy(made.data() + offset, &bits, size);
        }
        return made;
    });
}

// Fills in random values. Floating-point values are sometimes equal and differ enough for rounding
// to matter; integers have random bits.
void fill(bytes& into, element type, std::mt19937_64& dice) {
    const std::size_t size = size_of(type);
    std::fill(into.begin(), into.end(), std::byte{});
    const auto number = [&] {
        return static_cast<double>(static_cast<std::int64_t>(dice() % 2001) - 1000) / 64;
    };
    for (std::size_t offset = 0; offset < into.size(); offset += size) {
        std::byte* const to = into.data() + offset;
        const auto put = [&](std::size_t position, auto value) {
            std::memcpy(to + position, &value, sizeof value);
        };
        visit(type, [&]<class As>(As) {
            using worked = typename As::worked;
            if constexpr (As::kind == family::integer) {
                const std::uint64_t all = dice() % 4 == 0 ? 0 : dice();
                std::memcpy(to, &all, size);
            } else if constexpr (As::kind == family::real) {
                constexpr bool is_narrow = sizeof(typename As::stored) < sizeof(worked);
                put(0, As::give(static_cast<worked>(is_narrow ? number() : number() / 3)));
            } else if constexpr (As::kind == family::complex) {
                using part = decltype(worked::real);
                put(0, static_cast<part>(number() / 3));
                put(sizeof(part), static_cast<part>(number() / 3));
            } else {
                put(0, static_cast<decltype(worked::value)>(dice() % 3));
                put(offsetof(worked, location), static_cast<std::int32_t>(dice() % 4));
            }
        });
    }
}

// Clears the padding between and behind value and location.
bytes without_gaps(bytes elements, element type) {
    if (!is_defined(type, operation::minimum_at)) return elements;
    const std::size_t size = size_of(type);
    for (std::size_t offset = 0; offset < elements.size(); offset += size) {
        if (type == element::int16_at) std::fill_n(elements.data() + offset + 2, 2, std::byte{});
        if (size == 16) std::fill_n(elements.data() + offset + 12, 4, std::byte{});
    }
    return elements;
}

void check(element type, operation op, processor instructions) {
    CAPTURE(name(type), name(op), static_cast<int>(instructions));
    const kernel run = find_kernel(type, op, instructions);
    REQUIRE(run != nullptr);
    std::mt19937_64 dice(42);
    const std::size_t size = size_of(type);
    for (const std::size_t sources : {1U, 2U, 3U, 9U}) {
        for (const std::size_t count : {0U, 1U, 7U, 64U, 5000U}) {
            std::vector<bytes> from(sources, bytes(count * size));
            for (bytes& each : from)
                fill(each, type, dice);
            const std::uint64_t divisor = op == operation::average ? sources : 0;
            const bytes wanted = without_gaps(expected(type, op, from, divisor), type);
            bytes into(count * size);
            // Every other time the result overwrites the last source.
            const bool in_place = count % 2 == 1;
            std::vector<const void*> places;
            for (const bytes& each : from)
                places.push_back(each.data());
            void* const to = in_place ? from.back().data() : into.data();
            run({to, places.data(), sources, count, divisor});
            const bytes& made = in_place ? from.back() : into;
            if (without_gaps(made, type) != wanted) FAIL(sources << " sources of " << count);
        }
    }
}

}  // namespace

TEST_CASE("kernels give the bits of a plain loop with every instruction set") {
    for (std::size_t i = 0; i < element_count; ++i) {
        for (std::size_t k = 0; k < operation_count; ++k) {
            const auto type = static_cast<element>(i);
            const auto op = static_cast<operation>(k);
            if (!is_defined(type, op)) {
                CHECK(find_kernel(type, op) == nullptr);
                continue;
            }
            for (const processor instructions :
                 {processor::any, processor::avx2, processor::avx512}) {
                if (is_supported(instructions)) check(type, op, instructions);
            }
        }
    }
}

TEST_CASE("narrow sums are rounded once") {
    // 257 is not representable in bf16: rounding after each step would give 256 each time.
    const std::vector<float> values{256, 1, 1, 2};
    std::vector<std::uint16_t> narrowed;
    std::vector<const void*> places;
    for (const float each : values)
        narrowed.push_back(narrow<bf16_format>(each));
    for (const std::uint16_t& each : narrowed)
        places.push_back(&each);
    std::uint16_t sum = 0;
    find_kernel(element::bf16, operation::sum)({&sum, places.data(), places.size(), 1});
    CHECK(widen<bf16_format>(sum) == 260.0F);
    std::uint16_t average = 0;
    find_kernel(element::bf16, operation::average)({&average, places.data(), 4, 1, 4});
    CHECK(widen<bf16_format>(average) == 65.0F);
}
