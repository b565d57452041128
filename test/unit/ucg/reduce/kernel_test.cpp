// Every kernel of every build against a plain loop.
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

// Reads, combines and writes one element as its definition says, nothing more.
template<class T, class Stored = T>
struct plain_way {
    static T read(const std::byte* from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void write(std::byte* into, T value) { std::memcpy(into, &value, sizeof value); }
};
template<class Format>
struct narrow_way {
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
T combine_integers(operation how, T a, T b) {
    using wide = __int128;
    switch (how) {
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
T combine(operation how, T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return combine_integers(how, a, b);
    } else {
        switch (how) {
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
std::complex<T> combine(operation how, std::complex<T> a, std::complex<T> b) {
    if (how != operation::product) return a + b;
    const T real = a.real() * b.real(), rest = a.imag() * b.imag();
    const T cross = a.real() * b.imag(), other = a.imag() * b.real();
    return {real - rest, cross + other};
}
template<class T>
found<T> combine(operation how, found<T> a, found<T> b) {
    if (a.value == b.value) return {a.value, std::min(a.place, b.place)};
    return (how == operation::minimum_at) == (a.value < b.value) ? a : b;
}

template<class T>
T divide(T sum, std::uint64_t by) {
    return static_cast<T>(sum / static_cast<T>(by));
}
template<class T>
std::complex<T> divide(std::complex<T> sum, std::uint64_t by) {
    return {sum.real() / static_cast<T>(by), sum.imag() / static_cast<T>(by)};
}
template<class T>
found<T> divide(found<T> sum, std::uint64_t) {
    return sum;
}

template<class Way>
bytes expected(operation how, const std::vector<bytes>& from, std::size_t size,
               std::uint64_t divisor) {
    bytes made = from.front();
    for (std::size_t at = 0; at + size <= made.size(); at += size) {
        auto result = Way::read(from.front().data() + at);
        for (std::size_t k = 1; k < from.size(); ++k)
            result = combine(how, result, Way::read(from[k].data() + at));
        if (divisor != 0) result = divide(result, divisor);
        Way::write(made.data() + at, result);
    }
    return made;
}

bytes expected(element what, operation how, const std::vector<bytes>& from, std::uint64_t divisor) {
    const std::size_t size = size_of(what);
    switch (what) {
        case element::int8:
            return expected<plain_way<std::int8_t>>(how, from, size, divisor);
        case element::int16:
            return expected<plain_way<std::int16_t>>(how, from, size, divisor);
        case element::int32:
            return expected<plain_way<std::int32_t>>(how, from, size, divisor);
        case element::int64:
            return expected<plain_way<std::int64_t>>(how, from, size, divisor);
        case element::uint8:
            return expected<plain_way<std::uint8_t>>(how, from, size, divisor);
        case element::uint16:
            return expected<plain_way<std::uint16_t>>(how, from, size, divisor);
        case element::uint32:
            return expected<plain_way<std::uint32_t>>(how, from, size, divisor);
        case element::uint64:
            return expected<plain_way<std::uint64_t>>(how, from, size, divisor);
        case element::fp16:
            return expected<narrow_way<fp16_format>>(how, from, size, divisor);
        case element::bf16:
            return expected<narrow_way<bf16_format>>(how, from, size, divisor);
        case element::fp8_e4m3:
            return expected<narrow_way<e4m3_format>>(how, from, size, divisor);
        case element::fp8_e5m2:
            return expected<narrow_way<e5m2_format>>(how, from, size, divisor);
        case element::fp32:
            return expected<plain_way<float>>(how, from, size, divisor);
        case element::fp64:
            return expected<plain_way<double>>(how, from, size, divisor);
        case element::complex32:
            return expected<plain_way<std::complex<float>>>(how, from, size, divisor);
        case element::complex64:
            return expected<plain_way<std::complex<double>>>(how, from, size, divisor);
        case element::int16_at:
            return expected<plain_way<found<std::int16_t>>>(how, from, size, divisor);
        case element::int32_at:
            return expected<plain_way<found<std::int32_t>>>(how, from, size, divisor);
        case element::int64_at:
            return expected<plain_way<found<std::int64_t>>>(how, from, size, divisor);
        case element::fp32_at:
            return expected<plain_way<found<float>>>(how, from, size, divisor);
        case element::fp64_at:
            return expected<plain_way<found<double>>>(how, from, size, divisor);
    }
    return {};
}

// Values that are near enough to each other to be equal now and then, and far enough for rounding
// to matter; integers have all bits.
void fill(bytes& into, element what, std::mt19937_64& dice) {
    const std::size_t size = size_of(what);
    std::fill(into.begin(), into.end(), std::byte{});
    const auto number = [&] {
        return static_cast<double>(static_cast<std::int64_t>(dice() % 2001) - 1000) / 64;
    };
    for (std::size_t at = 0; at < into.size(); at += size) {
        std::byte* const to = into.data() + at;
        const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
        const auto place = static_cast<std::int32_t>(dice() % 4);
        switch (what) {
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
        if (!is_defined(what, operation::minimum_at)) continue;
        std::memcpy(to + (size == 16 ? 8 : 4), &place, sizeof place);
    }
}

// What lies between value and place, or behind them, means nothing.
bytes without_gaps(bytes of, element what) {
    if (!is_defined(what, operation::minimum_at)) return of;
    const std::size_t size = size_of(what);
    for (std::size_t at = 0; at < of.size(); at += size) {
        if (what == element::int16_at) std::fill_n(of.data() + at + 2, 2, std::byte{});
        if (size == 16) std::fill_n(of.data() + at + 12, 4, std::byte{});
    }
    return of;
}

void check(element what, operation how, processor with) {
    CAPTURE(name(what), name(how), static_cast<int>(with));
    const kernel run = find_kernel(what, how, with);
    REQUIRE(run != nullptr);
    std::mt19937_64 dice(42);
    const std::size_t size = size_of(what);
    for (const std::size_t sources : {1U, 2U, 3U, 9U}) {
        for (const std::size_t count : {0U, 1U, 7U, 64U, 5000U}) {
            std::vector<bytes> from(sources, bytes(count * size));
            for (bytes& each : from)
                fill(each, what, dice);
            const std::uint64_t divisor = how == operation::average ? sources : 0;
            const bytes wanted = without_gaps(expected(what, how, from, divisor), what);
            bytes into(count * size);
            // The last source is the place of the result, every other time.
            const bool in_place = count % 2 == 1;
            std::vector<const void*> places;
            for (const bytes& each : from)
                places.push_back(each.data());
            void* const to = in_place ? from.back().data() : into.data();
            run({to, places.data(), sources, count, divisor});
            const bytes& made = in_place ? from.back() : into;
            if (without_gaps(made, what) != wanted) FAIL(sources << " sources of " << count);
        }
    }
}

}  // namespace

TEST_CASE("kernels give what a plain loop gives, bit for bit, with all instructions there are") {
    for (std::size_t i = 0; i < element_count; ++i) {
        for (std::size_t k = 0; k < operation_count; ++k) {
            const auto what = static_cast<element>(i);
            const auto how = static_cast<operation>(k);
            if (!is_defined(what, how)) {
                CHECK(find_kernel(what, how) == nullptr);
                continue;
            }
            for (const processor with : {processor::any, processor::avx2, processor::avx512}) {
                if (is_here(with)) check(what, how, with);
            }
        }
    }
}

TEST_CASE("narrow sums are rounded once") {
    // 256 + 1 is no bf16; one after the other would be 256 each time.
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
