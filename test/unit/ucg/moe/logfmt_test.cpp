// LogFMT-10: the error of decoded values, and the bytes of a row.
#include "ucg/moe/numbers/logfmt.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "test/unit/ucg/moe/plain_logfmt.hpp"
#include "test/unit/ucg/moe/world.hpp"

using namespace test::moe;
using reduce::element;

namespace {

using group = std::array<std::uint16_t, 128>;
using message = std::array<std::byte, ucg::moe::logfmt_group_bytes>;
using numbers = std::array<float, 128>;

float number(std::uint16_t bits) {
    return widened(element::bf16, reinterpret_cast<const std::byte*>(&bits));
}

std::uint16_t nearest(float value) {
    std::uint16_t bits;
    put_rounded(element::bf16, value, reinterpret_cast<std::byte*>(&bits));
    return bits;
}

message encoded(const group& from) {
    message made;
    ucg::moe::logfmt_encode(made.data(),
                            ucg::moe::dense_matrix(reinterpret_cast<const std::byte*>(from.data()),
                                                   1, 128, element::bf16),
                            0);
    return made;
}

numbers decoded(const message& from) {
    float made[128];
    ucg::moe::logfmt_decode(from.data(), made);
    return std::to_array(made);
}

bool same_bits(const numbers& a, const std::vector<float>& b) {
    return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

bool is_plain(const group& from) {
    return same_bits(decoded(encoded(from)), plain_logfmt({from.begin(), from.end()}));
}

// Checks that the error of every value is within the bound in docs/moe.md, plus the rounding of
// fp32.
bool is_near(const group& from) {
    double top = 0, bottom = std::numeric_limits<double>::infinity();
    for (const std::uint16_t bits : from) {
        const double magnitude = std::fabs(static_cast<double>(number(bits)));
        top = std::max(top, magnitude);
        if (magnitude != 0) bottom = std::min(bottom, magnitude);
    }
    const double octaves = top == 0 ? 0 : std::min(std::log2(top / bottom), 32.0);
    const double of_value = octaves / 510 * std::log(2.0) / 2 + 3e-6;
    const double least = std::ldexp(top, -33) * (1 + 3e-6);
    const numbers back = decoded(encoded(from));
    for (std::size_t i = 0; i < 128; ++i) {
        const auto wanted = static_cast<double>(number(from[i]));
        const auto got = static_cast<double>(back[i]);
        const bool is_small = std::fabs(wanted) < std::ldexp(top, -32);
        const double most = is_small ? least : of_value * std::fabs(wanted);
        // One unit of the last bit of a subnormal fp32 number.
        if (!(std::fabs(got - wanted) <= most + std::ldexp(1.0, -149))) return false;
        if (got != 0 && std::signbit(got) != std::signbit(wanted)) return false;
        if (std::fabs(wanted) == top && got != wanted) return false;
    }
    return true;
}

// Returns magnitudes spread over `octaves` powers of two below `top`; some of them are 0.
group spread(float top, float octaves, std::uint64_t seed) {
    group made;
    for (std::uint32_t i = 0; i < 128; ++i) {
        const std::uint64_t dice = mix(seed, i);
        const float share = static_cast<float>(dice >> 40U) / (1 << 24U);
        const float value = dice % 17 == 0 ? 0 : top * std::exp2(-octaves * share);
        made[i] = nearest(dice % 2 == 0 ? value : -value);
    }
    return made;
}

}  // namespace

TEST_CASE("moe: LogFMT of magnitudes near and far from each other", "[moe]") {
    const float top = GENERATE(1.0F, 3.3895314e38F, 0.37F, 448.0F, 1e-20F, 1.2e-38F, 3e-39F);
    for (const float octaves : {0.0F, 0.01F, 0.1F, 0.5F, 1.0F, 3.0F, 8.0F, 20.0F, 31.9F, 32.0F,
                                32.5F, 40.0F, 100.0F, 250.0F}) {
        INFO("from " << top << " down over " << octaves << " powers of two");
        bool plain = true, near = true;
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const group from = spread(top, octaves, seed);
            plain = plain && is_plain(from);
            near = near && is_near(from);
        }
        CHECK(plain);
        CHECK(near);
    }
}

TEST_CASE("moe: LogFMT decodes a single magnitude exactly, with both signs", "[moe]") {
    bool same = true;
    for (std::uint32_t magnitude = 0; magnitude < 0x7f80; ++magnitude) {
        group from;
        for (std::uint32_t i = 0; i < 128; ++i)
            from[i] = static_cast<std::uint16_t>(i % 3 == 0 ? magnitude | 0x8000U : magnitude);
        if (magnitude != 0) from[5] = from[6] = 0;
        const numbers back = decoded(encoded(from));
        for (std::uint32_t i = 0; i < 128; ++i)
            same = same && back[i] == number(from[i]);
    }
    CHECK(same);
}

TEST_CASE("moe: LogFMT of each magnitude together with the next ones", "[moe]") {
    bool near = true, plain = true;
    for (std::uint32_t first = 0; first + 128 <= 0x7f80; first += 97) {
        group from;
        for (std::uint32_t i = 0; i < 128; ++i)
            from[i] = static_cast<std::uint16_t>(first + i);
        near = near && is_near(from);
        plain = plain && is_plain(from);
        // A group with only two magnitudes: both are decoded exactly.
        from.fill(static_cast<std::uint16_t>(first + 5));
        from[7] = static_cast<std::uint16_t>(first + 6);
        const numbers back = decoded(encoded(from));
        near = near && back[7] == number(from[7]) && nearest(back[0]) == from[0];
    }
    CHECK(near);
    CHECK(plain);
}

TEST_CASE("moe: LogFMT of zeros is zeros, without a sign", "[moe]") {
    group from{};
    for (std::uint32_t i = 0; i < 128; i += 2)
        from[i] = 0x8000;
    const numbers zeros{};
    CHECK(same_bits(decoded(encoded(from)), {zeros.begin(), zeros.end()}));
    from[9] = nearest(-2.0F);
    from[10] = nearest(-1e-12F);  // so small that it is encoded as 0
    const numbers back = decoded(encoded(from));
    for (std::uint32_t i = 0; i < 128; ++i) {
        CHECK(back[i] == (i == 9 ? -2.0F : 0.0F));
        CHECK(std::signbit(back[i]) == (i == 9));
    }
}

TEST_CASE("moe: LogFMT decodes infinities and NaNs as NaN, and other values are not affected",
          "[moe]") {
    constexpr std::uint16_t infinity = 0x7f80, less = 0xff80, none = 0x7fc1, negative = 0xff81;
    group from = spread(5, 6, 3);
    const std::vector<std::pair<std::uint32_t, std::uint16_t>> replaced = {
        {3, infinity}, {4, less}, {70, none}, {127, negative}};
    for (const auto& [index, bits] : replaced)
        from[index] = 0;
    const numbers without = decoded(encoded(from));
    for (const auto& [index, bits] : replaced)
        from[index] = bits;
    CHECK(is_plain(from));
    const numbers variation = decoded(encoded(from));
    for (std::uint32_t i = 0; i < 128; ++i) {
        if (i == 3 || i == 4 || i == 70 || i == 127)
            CHECK(std::isnan(variation[i]));
        else
            CHECK(variation[i] == without[i]);
    }
    for (const std::uint16_t all : {infinity, less, none, negative}) {
        from.fill(all);
        from[1] = 0;
        const numbers back = decoded(encoded(from));
        CHECK(back[1] == 0);
        CHECK(std::isnan(back[0]));
        CHECK(is_plain(from));
    }
}

TEST_CASE("moe: LogFMT bytes have the documented layout", "[moe]") {
    CHECK(ucg::moe::logfmt_row_bytes(7168) == 9184);
    group from = spread(5, 6, 9);
    from[0] = nearest(-7.0F);
    from[1] = 0x7fc0;
    from[2] = nearest(0.03125F);
    const plain_group wanted = plain_encode({from.begin(), from.end()});
    message made = encoded(from);
    std::uint16_t ends[2];
    std::memcpy(ends, made.data(), sizeof ends);
    CHECK(ends[0] == nearest(7.0F));
    CHECK(ends[1] == wanted.bottom);
    for (std::uint32_t i = 0; i < 128; ++i) {
        const unsigned high = std::to_integer<unsigned>(made[132 + i % 32]) >> i / 32 * 2;
        const unsigned code = std::to_integer<unsigned>(made[4 + i]) + 256 * (high % 2);
        CHECK(code == wanted.codes[i]);
        CHECK((high / 2 % 2 != 0) == wanted.signs[i]);
    }
    CHECK((made[4] == std::byte{0xff} && (made[132] & std::byte{3}) == std::byte{3}));
    CHECK((made[5] == std::byte{0} && (made[133] & std::byte{3}) == std::byte{2}));

    // Any strides between elements and rows.
    own_matrix rows(3, 256, element::bf16, 7, 3);
    rows.fill(5);
    own_matrix dense(3, 256, element::bf16);
    for (std::uint64_t row = 0; row < 3; ++row)
        std::memcpy(dense.view().row(row), rows.row(row).data(), 512);
    std::vector<std::byte> some(2 * made.size()), same(2 * made.size());
    ucg::moe::logfmt_encode(some.data(), rows.view(), 2);
    ucg::moe::logfmt_encode(same.data(), dense.view(), 2);
    CHECK(some == same);
}

// A peer can send any bytes.
TEST_CASE("moe: LogFMT decodes any bytes to NaN or to magnitudes of at most the top", "[moe]") {
    message from;
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
        for (std::size_t i = 0; i < from.size(); ++i)
            from[i] = static_cast<std::byte>(mix(seed, i));
        // Also special values of top and bottom: 0, infinity, NaN, and a bottom above top.
        constexpr std::uint16_t ends[] = {0,      1,      0x7f,   0x3f80, 0x7f7f,
                                          0x7f80, 0x7fff, 0x8000, 0xff80};
        if (seed % 2 == 0) {
            const std::uint16_t some[2] = {ends[mix(seed, 500) % std::size(ends)],
                                           ends[mix(seed, 501) % std::size(ends)]};
            std::memcpy(from.data(), some, sizeof some);
        }
        std::uint16_t top;
        std::memcpy(&top, from.data(), sizeof top);
        const float most = std::fabs(number(top));
        if (!std::isfinite(most)) {
            (void)decoded(from);
            continue;
        }
        bool within = true;
        for (const float each : decoded(from))
            within = within && (std::isnan(each) || std::fabs(each) <= most);
        if (!within) FAIL("seed " << seed);
    }
}
