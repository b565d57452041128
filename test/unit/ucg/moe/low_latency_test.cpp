// The low-latency mode against plain loops, bit for bit; casts to fp8.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/moe/plain_logfmt.hpp"
#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/low_latency_combine.hpp"
#include "ucg/moe/low_latency_dispatch.hpp"

using namespace test::moe;
using reduce::element;
using ucg::moe::low_latency_combine;
using ucg::moe::low_latency_dispatch;
using ucg::moe::rows_go;
using ucg::moe::scaling;
using ucg::moe::slot_settings;
using ucg::moe::slots;

namespace {

// The value of a number of fp8_e4m3.
double e4m3(std::uint8_t bits) {
    const int exponent = (bits >> 3U) & 15;
    const int fraction = bits & 7;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(fraction + 8, exponent - 10);
    return (bits & 0x80U) != 0 ? -size : size;
}

// The number that is nearest, of two as near the one with an even last bit, by looking at all.
std::uint8_t nearest_e4m3(double value) {
    static const std::array<double, 0x7f> all = [] {
        std::array<double, 0x7f> made{};
        for (unsigned bits = 0; bits < made.size(); ++bits)
            made[bits] = e4m3(static_cast<std::uint8_t>(bits));
        return made;
    }();
    const double size = std::fabs(value);
    unsigned best = 0;
    double least = size;
    for (unsigned bits = 1; bits < all.size(); ++bits) {
        const double off = std::fabs(all[bits] - size);
        if (off > least || (off == least && bits % 2 != 0)) continue;
        best = bits;
        least = off;
    }
    return static_cast<std::uint8_t>(best | (std::signbit(value) ? 0x80U : 0U));
}

struct cast_group {
    std::vector<std::uint8_t> numbers;
    float scale;
};
cast_group cast(const std::vector<float>& from, scaling how) {
    float most = 1e-4F;
    for (const float each : from)
        most = std::max(most, std::fabs(each));
    cast_group made;
    float factor = 448.0F / most;
    made.scale = most / 448.0F;
    if (how != scaling::exact) {
        int exponent = 0;
        const float fraction = std::frexp(made.scale, &exponent);
        if (fraction == 0.5F) --exponent;
        made.scale = std::ldexp(1.0F, exponent);
        factor = 1 / made.scale;
    }
    for (const float each : from)
        made.numbers.push_back(nearest_e4m3(static_cast<double>(each * factor)));
    return made;
}

struct rank_data {
    own_matrix x, values, scales, tokens_of;
    std::vector<cast_group> casts;  // of x [tokens, groups], where it is cast
    own_matrix y, weights, sum;
};

class trial {
public:
    trial(const scenario& of, const slot_settings& by, element type, rows_go how)
        : all_(of),
          by_(by),
          type_(type),
          how_(how),
          local_(of.experts / of.ranks),
          capacity_(by.most_tokens * of.ranks),
          handles_(of.ranks),
          places_(all_.gates().places()) {
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            rank_data& at = data_.emplace_back();
            const std::uint32_t tokens = all_.tokens(rank);
            at.x = own_matrix(tokens, of.hidden, type);
            at.values = own_matrix(std::uint64_t{local_} * capacity_, of.hidden,
                                   by.cast ? element::fp8_e4m3 : type);
            if (by.cast)
                at.scales = own_matrix(std::uint64_t{local_} * capacity_, of.hidden / 128,
                                       ucg::moe::scale_type(by.how));
            at.tokens_of = own_matrix(local_, capacity_, element::int32);
            at.y = own_matrix(std::uint64_t{local_} * capacity_, of.hidden, type);
            at.weights = own_matrix(tokens, of.k, element::fp32);
            at.sum = own_matrix(tokens, of.hidden, type);
        }
    }

    void run() {
        std::deque<low_latency_dispatch> all(all_.of().ranks);
        std::vector<ucg::schedule::program*> programs(all_.of().ranks);
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            if (!all_.lives(rank)) continue;
            rank_data& at = data_[rank];
            const auto place = [&](own_matrix& m) {
                ucg::moe::stack made{m.view(), 0};
                made.first.rows = capacity_;
                made.expert_stride = made.first.row_stride * static_cast<std::ptrdiff_t>(capacity_);
                return made;
            };
            const ucg::moe::low_latency_tensors what{at.x.view(), place(at.values),
                                                     place(at.scales), at.tokens_of.view()};
            REQUIRE(all[rank].init(all_.team(rank), by_, all_.topk(rank), what) == UCS_OK);
            programs[rank] = &all[rank];
        }
        for (std::uint64_t start = 0; start < 4; ++start) {  // with other tokens each time
            for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
                rank_data& at = data_[rank];
                at.x.fill(mix(all_.of().seed, rank, 3 * start));
                at.casts = casts_of(at.x, all_.tokens(rank));
                at.values.spoil();
                at.scales.spoil();
                at.tokens_of.spoil();
            }
            all_.run_well(programs);
            for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
                if (!all_.lives(rank)) continue;
                // Who keeps the handle of one start has other memory than the next one.
                const auto before = std::exchange(handles_[rank], all[rank].made());
                CHECK(before != handles_[rank]);
                check_dispatch(rank);
            }
        }
        combine();
    }

private:
    void combine() {
        std::deque<low_latency_combine> all(all_.of().ranks);
        std::vector<ucg::schedule::program*> programs(all_.of().ranks);
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            if (!all_.lives(rank)) continue;
            rank_data& at = data_[rank];
            ucg::moe::const_stack values{std::as_const(at.y).view(), 0};
            values.first.rows = capacity_;
            values.expert_stride = values.first.row_stride * static_cast<std::ptrdiff_t>(capacity_);
            REQUIRE(all[rank].init(handles_[rank],
                                   {values, at.weights.view(), at.sum.view(), how_}) == UCS_OK);
            programs[rank] = &all[rank];
        }
        for (std::uint64_t start = 0; start < 2; ++start) {
            for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
                rank_data& at = data_[rank];
                for (std::uint32_t e = 0; all_.lives(rank) && e < local_; ++e)
                    at.y.fill_rows(mix(all_.of().seed, rank, 3 * start + 1),
                                   std::uint64_t{e} * capacity_, handles_[rank]->counts[e]);
                at.weights.fill(mix(all_.of().seed, rank, 3 * start + 2));
                at.sum.spoil();
            }
            all_.run_well(programs);
            for (rank_t rank = 0; rank < all_.of().ranks; ++rank)
                if (all_.lives(rank)) check_combine(rank);
        }
    }

    [[nodiscard]] std::vector<cast_group> casts_of(const own_matrix& x,
                                                   std::uint32_t tokens) const {
        std::vector<cast_group> made;
        for (std::uint32_t token = 0; by_.cast && token < tokens; ++token) {
            for (std::uint32_t first = 0; first < all_.of().hidden; first += 128) {
                std::vector<float> from;
                for (std::uint32_t c = first; c < first + 128; ++c)
                    from.push_back(x.real(token, c));
                made.push_back(cast(from, by_.how));
            }
        }
        return made;
    }

    void check_dispatch(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& at = data_[rank];
        bool same = true;
        for (std::uint32_t e = 0; e < local_; ++e) {
            const auto expert = static_cast<expert_t>(rank * local_ + e);
            std::uint32_t row = 0;
            for (rank_t source = 0; source < all_.of().ranks; ++source) {
                const std::uint32_t begin = row;
                for (std::uint32_t token = 0; token < all_.tokens(source); ++token)
                    for (std::uint32_t j = 0; j < all_.of().k; ++j)
                        if (all_.choice(source, token, j) == expert)
                            same = same && is_row(at, e, row++, source, token);
                const slots::range range = handles_[rank]->range_of(e, source);
                same = same && range.count == row - begin;
                same = same && (range.count == 0 || range.begin == begin);
            }
            same = same && handles_[rank]->counts[e] == row;
        }
        CHECK(same);
    }

    bool is_row(const rank_data& at, std::uint32_t e, std::uint32_t row, rank_t source,
                std::uint32_t token) const {
        const std::uint64_t i = std::uint64_t{e} * capacity_ + row;
        if (integer_at(at.tokens_of.view(), e, row) != token) return false;
        if (!by_.cast) return at.values.row(i) == data_[source].x.row(token);
        for (std::uint32_t group = 0; group < all_.of().hidden / 128; ++group) {
            const cast_group& wanted =
                data_[source].casts[token * (all_.of().hidden / 128) + group];
            const std::vector<std::byte> got = at.values.row(i);
            if (std::memcmp(got.data() + group * 128, wanted.numbers.data(), 128) != 0)
                return false;
            const const_matrix scales = at.scales.view();
            const float scale = by_.how == scaling::exponent
                                    ? std::ldexp(1.0F, static_cast<int>(scales.row(i)[group]) - 127)
                                    : float_at(scales, i, group);
            if (scale != wanted.scale) return false;
        }
        return true;
    }

    void check_combine(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& at = data_[rank];
        const std::size_t size = reduce::size_of(type_);
        bool same = true;
        for (std::uint32_t token = 0; token < all_.tokens(rank); ++token) {
            std::vector<float> sum(all_.of().hidden);
            for (std::uint32_t j = 0; j < all_.of().k; ++j) {
                const expert_t expert = all_.choice(rank, token, j);
                if (expert < 0 || !all_.lives(all_.rank_of(expert))) continue;
                const std::uint64_t row =
                    std::uint64_t{static_cast<std::uint32_t>(expert) % local_} * capacity_ +
                    places_[rank][std::size_t{token} * all_.of().k + j];
                const std::vector<float> came = as_it_comes(data_[all_.rank_of(expert)].y, row);
                for (std::uint32_t i = 0; i < all_.of().hidden; ++i) {
                    const volatile float product = at.weights.real(token, j) * came[i];
                    sum[i] += product;
                }
            }
            std::vector<std::byte> wanted(sum.size() * size);
            for (std::size_t i = 0; i < sum.size(); ++i)
                put_rounded(type_, sum[i], wanted.data() + i * size);
            same = same && at.sum.row(token) == wanted;
        }
        CHECK(same);
    }

    [[nodiscard]] std::vector<float> as_it_comes(const own_matrix& y, std::uint64_t row) const {
        std::vector<float> made;
        std::vector<std::uint16_t> bits(all_.of().hidden);
        if (how_ == rows_go::in_logfmt) {
            std::memcpy(bits.data(), y.row(row).data(), bits.size() * 2);
            return plain_logfmt(bits);
        }
        for (std::uint32_t i = 0; i < all_.of().hidden; ++i)
            made.push_back(y.real(row, i));
        return made;
    }

    world all_;
    slot_settings by_;
    element type_;
    rows_go how_;
    std::uint32_t local_, capacity_;
    std::deque<rank_data> data_;
    std::vector<std::shared_ptr<const slots>> handles_;
    std::vector<std::vector<std::uint32_t>> places_;
};

void check(const scenario& of, const slot_settings& by, element type,
           rows_go how = rows_go::packed) {
    INFO(text(of) << ", " << reduce::name(type) << (by.cast ? ", cast" : "")
                  << (how == rows_go::in_place ? ", in place" : "")
                  << (how == rows_go::in_logfmt ? ", in LogFMT" : ""));
    trial(of, by, type, how).run();
}

scenario group_of(rank_t ranks, rank_t per_node) {
    scenario of;
    of.ranks = ranks;
    of.ranks_per_node = per_node;
    of.experts = ranks * (1 + ranks % 3);
    of.k = std::min(of.experts, 1 + ranks % 5);
    of.tokens = 12;
    of.seed = ranks;
    of.how = ranks % 2 == 0 ? gate::with_holes : gate::skewed;
    of.disorder = true;
    return of;
}

}  // namespace

TEST_CASE("moe: low latency in groups of 1 to 17 ranks", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        const scenario of = group_of(ranks, 4);
        check(of, {12, false, scaling::exact}, ranks % 3 == 0 ? element::fp16 : element::bf16);
    }
}

TEST_CASE("moe: low latency with rows cast to fp8", "[moe]") {
    scenario of;
    of.ranks = 4;
    of.hidden = 256;
    of.tokens = 6;
    of.disorder = true;
    for (const scaling how : {scaling::exact, scaling::power_of_two, scaling::exponent})
        for (const element type : {element::bf16, element::fp16, element::fp32})
            check(of, {16, true, how}, type);
}

namespace {

// Those of DeepEP's own tests: two nodes of eight ranks.
scenario deep_ep() {
    scenario of;
    of.ranks = 16;
    of.ranks_per_node = 8;
    of.experts = 288;
    of.k = 8;
    of.tokens = 128;
    of.uneven = false;
    of.hidden = 8;  // which only scales what is copied
    return of;
}

}  // namespace

TEST_CASE("moe: low latency with 128 tokens, 288 experts, 8 choices, by any gate", "[moe]") {
    scenario of = deep_ep();
    for (const gate how : {gate::even, gate::skewed, gate::with_holes}) {
        of.how = how;
        check(of, {128, false, scaling::exact}, element::bf16);
    }
}

TEST_CASE("moe: low latency with 128 tokens, 288 experts, 8 choices, some ranks masked", "[moe]") {
    scenario of = deep_ep();
    of.masked.assign(of.ranks, 0);
    of.masked[1] = of.masked[3] = of.masked[12] = 1;
    check(of, {128, false, scaling::exact}, element::bf16);
}

TEST_CASE("moe: low latency with 128 tokens, 288 experts, 8 choices, cast", "[moe]") {
    scenario of = deep_ep();
    of.hidden = 128;
    if (test::instrumented) of.ranks = of.ranks_per_node = 4;
    check(of, {128, true, scaling::exact}, element::bf16);
}

// With DeepEP's rows; for fewer ranks, of gigabytes.
TEST_CASE("moe: low latency with 128 tokens of 7168 elements, 288 experts, 8 choices", "[moe]") {
    if (!has_time()) return;
    scenario of = deep_ep();
    of.ranks = 2;
    of.ranks_per_node = 1;
    of.hidden = 7168;
    for (const bool cast : {false, true})
        check(of, {128, cast, scaling::exact}, element::bf16);
}

TEST_CASE("moe: low latency with masked ranks", "[moe]") {
    scenario of;
    of.ranks = 6;
    of.experts = 12;
    of.k = 4;
    of.tokens = 12;
    of.masked = {0, 1, 0, 0, 0, 1};
    check(of, {12, false, scaling::exact}, element::bf16);
}

TEST_CASE("moe: low latency whose results come back in LogFMT", "[moe]") {
    for (const rank_t ranks : {1U, 2U, 3U, 5U, 8U, 13U, 17U}) {
        for (const rank_t per_node : {1U, 4U, 17U}) {
            scenario of = group_of(ranks, per_node);
            of.hidden = ranks % 2 == 0 ? 128 : 384;
            of.tokens = 5;
            of.how = ranks % 3 == 0 ? gate::with_holes : gate::skewed;
            check(of, {5, false, scaling::exact}, element::bf16, rows_go::in_logfmt);
        }
    }
}

TEST_CASE("moe: low latency whose results are sent from where they lie", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        const scenario of = group_of(ranks, 1 + ranks % 5);
        check(of, {12, false, scaling::exact}, ranks % 3 == 0 ? element::fp32 : element::bf16,
              rows_go::in_place);
    }
}

// Many experts on a rank with few rows of each; ranks without tokens, or without rows.
TEST_CASE("moe: low latency with 288 experts, in LogFMT and in place", "[moe]") {
    for (const gate how : {gate::even, gate::skewed, gate::with_holes}) {
        for (const rows_go go : {rows_go::in_logfmt, rows_go::in_place}) {
            scenario of;
            of.ranks = 16;
            of.ranks_per_node = 8;
            of.experts = 288;
            of.k = 8;
            of.tokens = 4;
            of.hidden = 128;
            of.how = how;
            check(of, {4, false, scaling::exact}, element::bf16, go);
        }
    }
}

TEST_CASE("moe: low latency with masked ranks, in LogFMT and in place", "[moe]") {
    for (const rows_go how : {rows_go::in_logfmt, rows_go::in_place}) {
        scenario of;
        of.ranks = 6;
        of.experts = 12;
        of.k = 4;
        of.tokens = 12;
        of.hidden = 256;
        of.masked = {0, 1, 0, 0, 0, 1};
        check(of, {12, false, scaling::exact}, element::bf16, how);
    }
}

TEST_CASE("moe: low-latency results that cannot travel as they shall are refused", "[moe]") {
    const test::log_capture log;
    scenario of;
    of.ranks = 1;
    of.ranks_per_node = 1;
    of.hidden = 128;
    world all(of);
    own_matrix x(all.tokens(0), of.hidden, element::bf16);
    own_matrix values(std::uint64_t{32} * of.experts, of.hidden, element::bf16);
    const auto stack_of = [&](own_matrix& from) {
        ucg::moe::stack made{from.view(), 0};
        made.first.rows = 32;
        made.expert_stride = made.first.row_stride * 32;
        return made;
    };
    std::vector<std::vector<std::byte>> sums;
    low_latency_dispatch there;
    REQUIRE(there.init(all.team(0), {32, false, scaling::exact}, all.topk(0),
                       {x.view(), stack_of(values), {}, {}}) == UCS_OK);
    all.run_well({&there});
    const auto init = [&](rows_go how, std::uint32_t hidden, element type, std::uint32_t gap = 0,
                          std::uint32_t apart = 1) {
        own_matrix dense(std::uint64_t{32} * of.experts, hidden, type);
        own_matrix y(std::uint64_t{32} * of.experts, hidden, type, gap, apart);
        dense.fill(2);
        for (std::uint64_t row = 0; row < y.view().rows; ++row)
            copy_row(y.view(), row, dense.view(), row);
        own_matrix weights(all.tokens(0), of.k, element::fp32);
        own_matrix sum(all.tokens(0), hidden, type);
        weights.fill(1);
        low_latency_combine back;
        const ucs_status_t status =
            back.init(there.made(), {stack_of(y), weights.view(), sum.view(), how});
        if (status != UCS_OK) return status;
        all.run_well({&back});
        sums.clear();
        for (std::uint32_t token = 0; token < all.tokens(0); ++token)
            sums.push_back(sum.row(token));
        return status;
    };
    CHECK(init(rows_go::in_logfmt, 128, element::bf16) == UCS_OK);
    auto wanted = sums;
    CHECK(init(rows_go::in_logfmt, 128, element::bf16, 5, 2) == UCS_OK);
    CHECK(sums == wanted);
    CHECK(init(rows_go::in_logfmt, 192, element::bf16) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("has rows of 192 elements: give a multiple of 128") == 1);
    CHECK(init(rows_go::in_logfmt, 128, element::fp16) == UCS_ERR_INVALID_PARAM);
    CHECK(init(rows_go::in_logfmt, 128, element::fp32) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("x that is compressed is of fp16: give bf16") == 1);
    CHECK(init(rows_go::in_place, 192, element::fp16) == UCS_OK);
    wanted = sums;
    CHECK(init(rows_go::in_place, 192, element::fp16, 4) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("has rows at distances of 392 bytes: give 384, without gaps") == 1);
    CHECK(init(rows_go::in_place, 192, element::fp16, 0, 2) == UCS_ERR_INVALID_PARAM);
    CHECK(init(rows_go::packed, 192, element::fp16, 0, 2) == UCS_OK);
    CHECK(sums == wanted);
    CHECK(init(rows_go::packed, 192, element::fp16, 4) == UCS_OK);
    CHECK(sums == wanted);
}

TEST_CASE("moe: casting a row of zeros, of tiny and of huge numbers", "[moe]") {
    own_matrix from(1, 384, element::fp32), into(1, 384, element::fp8_e4m3);
    own_matrix scales(1, 3, element::fp32);
    for (std::uint32_t i = 0; i < 128; ++i) {
        put_float(from.view(), 0, i, 0);
        put_float(from.view(), 0, 128 + i, i % 2 == 0 ? 1e-7F : -1e-9F);
        put_float(from.view(), 0, 256 + i, static_cast<float>(i) * 1e36F);
    }
    cast_row(into.view(), scales.view(), 0, from.view(), 0, scaling::exact);
    CHECK(scales.real(0, 0) == 1e-4F / 448.0F);
    CHECK(scales.real(0, 1) == 1e-4F / 448.0F);
    const auto back = [&](std::uint32_t i) {
        const auto bits = static_cast<std::uint8_t>(into.row(0)[i]);
        return e4m3(bits) * static_cast<double>(scales.real(0, i / 128));
    };
    CHECK(back(5) == 0);
    CHECK(back(128) == Approx(1e-7).epsilon(0.1));
    CHECK(back(256 + 127) == Approx(127e36).epsilon(1e-6));
    CHECK(back(256 + 64) == Approx(64e36).epsilon(0.07));
}

// One infinity made the scale of its group infinite, and all of its numbers none.
TEST_CASE("moe: what is not finite spoils no other number of its group", "[moe]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float largest = std::numeric_limits<float>::max();
    own_matrix from(1, 384, element::fp32), into(1, 384, element::fp8_e4m3);
    for (const scaling how : {scaling::exact, scaling::power_of_two, scaling::exponent}) {
        own_matrix scales(1, 3, ucg::moe::scale_type(how));
        for (std::uint32_t i = 0; i < 384; ++i)
            put_float(from.view(), 0, i, i < 256 ? 1.0F : largest);
        put_float(from.view(), 0, 3, infinity);
        put_float(from.view(), 0, 4, -infinity);
        put_float(from.view(), 0, 128 + 7, std::numeric_limits<float>::quiet_NaN());
        put_float(from.view(), 0, 256 + 9, infinity);
        cast_row(into.view(), scales.view(), 0, from.view(), 0, how);
        const std::vector<std::byte> made = into.row(0);
        const auto bits = [&](std::uint32_t i) { return std::to_integer<unsigned>(made[i]); };
        const std::vector<float> ones(128, 1.0F), largest_ones(128, largest);
        const cast_group one = cast(ones, how), large = cast(largest_ones, how);
        for (std::uint32_t i = 0; i < 384; ++i) {
            if (i == 3 || i == 256 + 9)
                CHECK(bits(i) == 0x7e);  // 448, the largest
            else if (i == 4)
                CHECK(bits(i) == 0xfe);
            else if (i == 128 + 7)
                CHECK((bits(i) & 0x7f) == 0x7f);  // no number
            else
                CHECK(bits(i) == (i < 256 ? one : large).numbers[0]);
        }
        for (std::uint32_t group = 0; group < 3; ++group) {
            const cast_group& wanted = group < 2 ? one : large;
            if (how == scaling::exponent)
                CHECK(std::ldexp(1.0F, std::to_integer<int>(scales.row(0)[group]) - 127) ==
                      wanted.scale);
            else
                CHECK(scales.real(0, group) == wanted.scale);
        }
    }
}

TEST_CASE("moe: casting to powers of two takes the smallest that is not below", "[moe]") {
    own_matrix from(1, 128, element::fp32), into(1, 128, element::fp8_e4m3);
    own_matrix scales(1, 1, element::fp32);
    for (const auto& [most, wanted] :
         {std::pair{448.0F, 1.0F}, {449.0F, 2.0F}, {447.0F, 1.0F}, {224.0F, 0.5F}}) {
        for (std::uint32_t i = 0; i < 128; ++i)
            put_float(from.view(), 0, i, i == 50 ? -most : 1.0F);
        cast_row(into.view(), scales.view(), 0, from.view(), 0, scaling::power_of_two);
        CHECK(scales.real(0, 0) == wanted);
    }
}

TEST_CASE("moe: an expert that a token chose twice is refused, however few chose it", "[moe]") {
    const test::log_capture log;
    scenario of;
    of.tokens = 6;
    world all(of);
    std::vector<std::int64_t> topk = {0, 1, 2, 3, -1, -1};
    own_matrix x(3, of.hidden, element::bf16);
    own_matrix values(std::uint64_t{2} * 16 * of.ranks, of.hidden, element::bf16);
    const auto init = [&] {
        low_latency_dispatch one;
        ucg::moe::stack into{values.view(), 0};
        into.first.rows = std::uint64_t{16} * of.ranks;
        into.expert_stride = into.first.row_stride * static_cast<std::ptrdiff_t>(into.first.rows);
        const const_matrix choices = ucg::moe::dense_matrix(
            reinterpret_cast<const std::byte*>(topk.data()), 3, 2, element::int64);
        return one.init(all.team(0), {16, false, scaling::exact}, choices,
                        {x.view(), into, {}, {}});
    };
    CHECK(init() == UCS_OK);
    topk[3] = 2;
    CHECK(init() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("token 1 chose expert 2 twice") == 1);
    topk[3] = 0;  // as another token
    CHECK(init() == UCS_OK);
}
