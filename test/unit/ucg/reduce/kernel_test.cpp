// Compares every kernel of every build with a plain loop.
#include "ucg/reduce/kernel.hpp"

#include <catch2/catch.hpp>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "ucg/reduce/narrow_float.hpp"

using namespace ucg::reduce;

namespace {

using bytes = std::vector<std::byte>;

template<class T>
struct found {
    T value;
    std::int32_t place;
};

// Reads and writes one element by the definition of its type.
template<class T, class Stored = T>
struct plain_access {
    static T read(const std::byte* from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void write(std::byte* into, T value) { std::memcpy(into, &value, sizeof value); }
};
template<class Format>
struct narrow_access {
    static float read(const std::byte* from) {
        typename Format::bits bits;
        std::memcpy(&bits, from, sizeof bits);
        return widen<Format>(bits);
    }
    static void write(std::byte* into, float value) {
        const auto bits = narrow<Format>(value);
        std::memcpy(into, &bits, sizeof bits);
    }
};

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
std::complex<T> combine(operation op, std::complex<T> a, std::complex<T> b) {
    if (op != operation::product) return a + b;
    const T real = a.real() * b.real(), rest = a.imag() * b.imag();
    const T cross = a.real() * b.imag(), other = a.imag() * b.real();
    return {real - rest, cross + other};
}
template<class T>
found<T> combine(operation op, found<T> a, found<T> b) {
    if (a.value == b.value) return {a.value, std::min(a.place, b.place)};
    return (op == operation::minimum_at) == (a.value < b.value) ? a : b;
}

template<class T>
T divide(T sum, std::uint64_t divisor) {
    return static_cast<T>(sum / static_cast<T>(divisor));
}
template<class T>
std::complex<T> divide(std::complex<T> sum, std::uint64_t divisor) {
    return {sum.real() / static_cast<T>(divisor), sum.imag() / static_cast<T>(divisor)};
}
template<class T>
found<T> divide(found<T> sum, std::uint64_t) {
    return sum;
}

template<class Access>
bytes expected(operation op, const std::vector<bytes>& from, std::size_t size,
               std::uint64_t divisor) {
    bytes made = from.front();
    for (std::size_t offset = 0; offset + size <= made.size(); offset += size) {
        auto result = Access::read(from.front().data() + offset);
        for (std::size_t k = 1; k < from.size(); ++k)
            result = combine(op, result, Access::read(from[k].data() + offset));
        if (divisor != 0) result = divide(result, divisor);
        Access::write(made.data() + offset, result);
    }
    return made;
}

bytes expected(element type, operation op, const std::vector<bytes>& from, std::uint64_t divisor) {
    const std::size_t size = size_of(type);
    switch (type) {
        case element::int8:
            return expected<plain_access<std::int8_t>>(op, from, size, divisor);
        case element::int16:
            return expected<plain_access<std::int16_t>>(op, from, size, divisor);
        case element::int32:
            return expected<plain_access<std::int32_t>>(op, from, size, divisor);
        case element::int64:
            return expected<plain_access<std::int64_t>>(op, from, size, divisor);
        case element::uint8:
            return expected<plain_access<std::uint8_t>>(op, from, size, divisor);
        case element::uint16:
            return expected<plain_access<std::uint16_t>>(op, from, size, divisor);
        case element::uint32:
            return expected<plain_access<std::uint32_t>>(op, from, size, divisor);
        case element::uint64:
            return expected<plain_access<std::uint64_t>>(op, from, size, divisor);
        case element::fp16:
            return expected<narrow_access<fp16_format>>(op, from, size, divisor);
        case element::bf16:
            return expected<narrow_access<bf16_format>>(op, from, size, divisor);
        case element::fp8_e4m3:
            return expected<narrow_access<e4m3_format>>(op, from, size, divisor);
        case element::fp8_e5m2:
            return expected<narrow_access<e5m2_format>>(op, from, size, divisor);
        case element::fp32:
            return expected<plain_access<float>>(op, from, size, divisor);
        case element::fp64:
            return expected<plain_access<double>>(op, from, size, divisor);
        case element::complex32:
            return expected<plain_access<std::complex<float>>>(op, from, size, divisor);
        case element::complex64:
            return expected<plain_access<std::complex<double>>>(op, from, size, divisor);
        case element::int16_at:
            return expected<plain_access<found<std::int16_t>>>(op, from, size, divisor);
        case element::int32_at:
            return expected<plain_access<found<std::int32_t>>>(op, from, size, divisor);
        case element::int64_at:
            return expected<plain_access<found<std::int64_t>>>(op, from, size, divisor);
        case element::fp32_at:
            return expected<plain_access<found<float>>>(op, from, size, divisor);
        case element::fp64_at:
            return expected<plain_access<found<double>>>(op, from, size, divisor);
    }
    return {};
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
        const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
        const auto place = static_cast<std::int32_t>(dice() % 4);
        switch (type) {
            case element::fp16:
                put(narrow<fp16_format>(static_cast<float>(number())));
                break;
            case element::bf16:
                put(narrow<bf16_format>(static_cast<float>(number())));
                break;
            case element::fp8_e4m3:
                put(narrow<e4m3_format>(static_cast<float>(number())));
                break;
            case element::fp8_e5m2:
                put(narrow<e5m2_format>(static_cast<float>(number())));
                break;
            case element::fp32:
                put(static_cast<float>(number() / 3));
                break;
            case element::fp64:
                put(number() / 3);
                break;
            case element::complex32:
                put(std::complex<float>(static_cast<float>(number() / 3),
                                        static_cast<float>(number() / 3)));
                break;
            case element::complex64:
                put(std::complex<double>(number() / 3, number() / 3));
                break;
            case element::int16_at:
                put(std::int16_t{static_cast<std::int16_t>(dice() % 3)});
                break;
            case element::int32_at:
                put(static_cast<std::int32_t>(dice() % 3));
                break;
            case element::int64_at:
                put(static_cast<std::int64_t>(dice() % 3));
                break;
            case element::fp32_at:
                put(static_cast<float>(dice() % 3));
                break;
            case element::fp64_at:
                put(static_cast<double>(dice() % 3));
                break;
            default: {
                const std::uint64_t all = dice() % 4 == 0 ? 0 : dice();
                std::memcpy(to, &all, size);
            }
        }
        if (!is_defined(type, operation::minimum_at)) continue;
        std::memcpy(to + (size == 16 ? 8 : 4), &place, sizeof place);
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
