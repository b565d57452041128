// Compares the low-latency mode with plain loops, bit for bit; tests casts to fp8.
#include <cmath>
#include <cstring>
#include <limits>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/moe/plain_logfmt.hpp"
#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/low_latency/combine.hpp"
#include "ucg/moe/low_latency/dispatch.hpp"

using namespace test::moe;
using reduce::element;
using namespace ucg::moe;

namespace {

struct cast_group {
    std::vector<std::uint8_t> numbers;
    float scale;
};
cast_group cast(const std::vector<float>& from, scaling format) {
    float most = 1e-4F;
    for (const float each : from)
        most = std::max(most, std::fabs(each));
    cast_group made;
    float factor = 448.0F / most;
    made.scale = most / 448.0F;
    if (format != scaling::exact) {
        int exponent = 0;
        const float fraction = std::frexp(made.scale, &exponent);
        if (fraction == 0.5F) --exponent;
        made.scale = std::ldexp(1.0F, exponent);
        factor = 1 / made.scale;
    }
    for (const float each : from)
        put_rounded(element::fp8_e4m3, each * factor,
                    reinterpret_cast<std::byte*>(&made.numbers.emplace_back()));
    return made;
}

struct rank_data {
    own_matrix x, values, scales, token_numbers;
    std::vector<cast_group> casts;  // casts of x [tokens, groups], if x is cast
    own_matrix y, weights, sum;
};

class trial {
public:
    trial(const scenario& setup, const slot_settings& settings, element type, row_transfer transfer)
        : all_(setup),
          settings_(settings),
          type_(type),
          transfer_(transfer),
          local_(setup.experts / setup.ranks),
          capacity_(settings.max_tokens * setup.ranks),
          handles_(setup.ranks),
          places_(all_.gates().places()) {
        for (rank_t rank = 0; rank < setup.ranks; ++rank) {
            rank_data& data = data_.emplace_back();
            const std::uint32_t tokens = all_.tokens(rank);
            data.x = own_matrix(tokens, setup.hidden, type);
            data.values = own_matrix(std::uint64_t{local_} * capacity_, setup.hidden,
                                     settings.cast ? element::fp8_e4m3 : type);
            if (settings.cast)
                data.scales = own_matrix(std::uint64_t{local_} * capacity_, setup.hidden / 128,
                                         ucg::moe::scale_type(settings.scale_format));
            data.token_numbers = own_matrix(local_, capacity_, element::int32);
            data.y = own_matrix(std::uint64_t{local_} * capacity_, setup.hidden, type);
            data.weights = own_matrix(tokens, setup.k, element::fp32);
            data.sum = own_matrix(tokens, setup.hidden, type);
        }
    }

    void run() {
        const on_all<low_latency_dispatch> all(all_, [&](low_latency_dispatch& one, rank_t rank) {
            rank_data& data = data_[rank];
            const ucg::moe::low_latency_dispatch_tensors tensors{
                data.x.view(), data.values.stack(capacity_), data.scales.stack(capacity_),
                data.token_numbers.view()};
            return one.init(all_.team(rank), settings_, all_.topk(rank), tensors);
        });
        for (std::uint64_t start = 0; start < 4; ++start) {  // each start has other tokens
            for (rank_t rank = 0; rank < all_.setup().ranks; ++rank) {
                rank_data& data = data_[rank];
                data.x.fill(mix(all_.setup().seed, rank, 3 * start));
                data.casts = casts_of(data.x, all_.tokens(rank));
                data.values.spoil();
                data.scales.spoil();
                data.token_numbers.spoil();
            }
            all_.run_well(all.programs);
            for (const rank_t rank : all_.living()) {
                // If the caller keeps the handle of a start, the next start uses other memory.
                const auto before = std::exchange(handles_[rank], all.each[rank].made());
                CHECK(before != handles_[rank]);
                check_dispatch(rank);
            }
        }
        combine();
    }

private:
    void combine() {
        const on_all<low_latency_combine> all(all_, [&](low_latency_combine& one, rank_t rank) {
            rank_data& data = data_[rank];
            return one.init(handles_[rank], {data.y.stack(capacity_), data.weights.view(),
                                             data.sum.view(), transfer_});
        });
        for (std::uint64_t start = 0; start < 2; ++start) {
            for (rank_t rank = 0; rank < all_.setup().ranks; ++rank) {
                rank_data& data = data_[rank];
                for (std::uint32_t e = 0; all_.lives(rank) && e < local_; ++e)
                    data.y.fill_rows(mix(all_.setup().seed, rank, 3 * start + 1),
                                     std::uint64_t{e} * capacity_, handles_[rank]->counts[e]);
                data.weights.fill(mix(all_.setup().seed, rank, 3 * start + 2));
                data.sum.spoil();
            }
            all_.run_well(all.programs);
            for (const rank_t rank : all_.living())
                check_combine(rank);
        }
    }

    [[nodiscard]] std::vector<cast_group> casts_of(const own_matrix& x,
                                                   std::uint32_t tokens) const {
        std::vector<cast_group> made;
        for (std::uint32_t token = 0; settings_.cast && token < tokens; ++token) {
            for (std::uint32_t first = 0; first < all_.setup().hidden; first += 128) {
                std::vector<float> from;
                for (std::uint32_t c = first; c < first + 128; ++c)
                    from.push_back(x.real(token, c));
                made.push_back(cast(from, settings_.scale_format));
            }
        }
        return made;
    }

    void check_dispatch(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& data = data_[rank];
        bool same = true;
        for (const expanded_row& each : all_.gates().expanded_rows(rank))
            same = same && is_row(data, each);
        const std::vector<std::uint32_t> counts = all_.gates().counts_by_source(rank);
        for (std::uint32_t e = 0; e < local_; ++e) {
            std::uint32_t row = 0;
            for (rank_t source = 0; source < all_.setup().ranks; ++source) {
                const slots::range range = handles_[rank]->range_of(e, source);
                same = same && range.count == counts[e * all_.setup().ranks + source];
                same = same && (range.count == 0 || range.begin == row);
                row += range.count;
            }
            same = same && handles_[rank]->counts[e] == row;
        }
        CHECK(same);
    }

    bool is_row(const rank_data& data, const expanded_row& from) const {
        const auto [source, token] = from.token;
        const std::uint64_t i = std::uint64_t{from.expert} * capacity_ + from.place;
        if (integer_at(data.token_numbers.view(), from.expert, from.place) != token) return false;
        if (!settings_.cast) return data.values.row(i) == data_[source].x.row(token);
        for (std::uint32_t group = 0; group < all_.setup().hidden / 128; ++group) {
            const cast_group& wanted =
                data_[source].casts[token * (all_.setup().hidden / 128) + group];
            const std::vector<std::byte> got = data.values.row(i);
            if (std::memcmp(got.data() + group * 128, wanted.numbers.data(), 128) != 0)
                return false;
            const const_matrix scales = data.scales.view();
            const float scale = settings_.scale_format == scaling::exponent
                                    ? std::ldexp(1.0F, static_cast<int>(scales.row(i)[group]) - 127)
                                    : float_at(scales, i, group);
            if (scale != wanted.scale) return false;
        }
        return true;
    }

    void check_combine(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& data = data_[rank];
        const std::size_t size = reduce::size_of(type_);
        bool same = true;
        for (std::uint32_t token = 0; token < all_.tokens(rank); ++token) {
            std::vector<float> sum(all_.setup().hidden);
            for (std::uint32_t j = 0; j < all_.setup().k; ++j) {
                const std::int64_t expert = all_.gates().living_choice(rank, token, j);
                if (expert < 0) continue;
                const std::uint64_t row =
                    std::uint64_t{static_cast<std::uint32_t>(expert) % local_} * capacity_ +
                    places_[rank][std::size_t{token} * all_.setup().k + j];
                const std::vector<float> received_row =
                    decoded(data_[all_.gates().rank_of(expert)].y, row);
                for (std::uint32_t i = 0; i < all_.setup().hidden; ++i) {
                    const volatile float product = data.weights.real(token, j) * received_row[i];
                    sum[i] += product;
                }
            }
            std::vector<std::byte> wanted(sum.size() * size);
            for (std::size_t i = 0; i < sum.size(); ++i)
                put_rounded(type_, sum[i], wanted.data() + i * size);
            same = same && data.sum.row(token) == wanted;
        }
        CHECK(same);
    }

    [[nodiscard]] std::vector<float> decoded(const own_matrix& y, std::uint64_t row) const {
        std::vector<float> made;
        std::vector<std::uint16_t> bits(all_.setup().hidden);
        if (transfer_ == row_transfer::in_logfmt) {
            std::memcpy(bits.data(), y.row(row).data(), bits.size() * 2);
            return plain_logfmt(bits);
        }
        for (std::uint32_t i = 0; i < all_.setup().hidden; ++i)
            made.push_back(y.real(row, i));
        return made;
    }

    world all_;
    slot_settings settings_;
    element type_;
    row_transfer transfer_;
    std::uint32_t local_, capacity_;
    std::deque<rank_data> data_;
    std::vector<std::shared_ptr<const slots>> handles_;
    std::vector<std::vector<std::uint32_t>> places_;
};

void check(const scenario& setup, const slot_settings& settings, element type,
           row_transfer transfer = row_transfer::packed) {
    INFO(text(setup) << ", " << reduce::name(type) << (settings.cast ? ", cast" : "")
                     << (transfer == row_transfer::in_place ? ", in place" : "")
                     << (transfer == row_transfer::in_logfmt ? ", in LogFMT" : ""));
    trial(setup, settings, type, transfer).run();
}

scenario small_group_of(rank_t ranks, rank_t per_node) {
    scenario setup = group_of(ranks, per_node);
    setup.tokens = 12;
    setup.gate_kind = ranks % 2 == 0 ? gate::with_holes : gate::skewed;
    setup.disorder = true;
    return setup;
}

}  // namespace

TEST_CASE("moe: low latency in groups of 1 to 17 ranks", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        const scenario setup = small_group_of(ranks, 4);
        check(setup, {12, false, scaling::exact}, ranks % 3 == 0 ? element::fp16 : element::bf16);
    }
}

TEST_CASE("moe: low latency with rows cast to fp8", "[moe]") {
    scenario setup{.ranks = 4, .hidden = 256, .tokens = 6, .disorder = true};
    for (const scaling format : {scaling::exact, scaling::power_of_two, scaling::exponent})
        for (const element type : {element::bf16, element::fp16, element::fp32})
            check(setup, {16, true, format}, type);
}

namespace {

// The shape of DeepEP's own tests: two nodes with eight ranks each.
scenario deep_ep() {
    scenario setup{
        .ranks = 16, .ranks_per_node = 8, .experts = 288, .k = 8, .tokens = 128, .uneven = false};
    setup.hidden = 8;  // short rows, because the length only scales the copies
    return setup;
}

scenario two_masked() {
    return {.ranks = 6, .experts = 12, .k = 4, .tokens = 12, .masked = {0, 1, 0, 0, 0, 1}};
}

}  // namespace

TEST_CASE("moe: low latency with 128 tokens, 288 experts, 8 choices, by any gate", "[moe]") {
    scenario setup = deep_ep();
    for (const gate kind : {gate::even, gate::skewed, gate::with_holes}) {
        setup.gate_kind = kind;
        check(setup, {128, false, scaling::exact}, element::bf16);
    }
}

TEST_CASE("moe: low latency with 128 tokens, 288 experts, 8 choices, some ranks masked", "[moe]") {
    scenario setup = deep_ep();
    setup.masked.assign(setup.ranks, 0);
    setup.masked[1] = setup.masked[3] = setup.masked[12] = 1;
    check(setup, {128, false, scaling::exact}, element::bf16);
}

TEST_CASE("moe: low latency with 128 tokens, 288 experts, 8 choices, cast", "[moe]") {
    scenario setup = deep_ep();
    setup.hidden = 128;
    if (test::instrumented) setup.ranks = setup.ranks_per_node = 4;
    check(setup, {128, true, scaling::exact}, element::bf16);
}

// DeepEP's row length, with fewer ranks because the data takes gigabytes.
TEST_CASE("moe: low latency with 128 tokens of 7168 elements, 288 experts, 8 choices", "[moe]") {
    if (!has_time()) return;
    scenario setup = deep_ep();
    setup.ranks = 2;
    setup.ranks_per_node = 1;
    setup.hidden = 7168;
    for (const bool cast : {false, true})
        check(setup, {128, cast, scaling::exact}, element::bf16);
}

TEST_CASE("moe: low latency with masked ranks", "[moe]") {
    check(two_masked(), {12, false, scaling::exact}, element::bf16);
}

TEST_CASE("moe: low latency with results in LogFMT", "[moe]") {
    for (const rank_t ranks : {1U, 2U, 3U, 5U, 8U, 13U, 17U}) {
        for (const rank_t per_node : {1U, 4U, 17U}) {
            scenario setup = small_group_of(ranks, per_node);
            setup.hidden = ranks % 2 == 0 ? 128 : 384;
            setup.tokens = 5;
            setup.gate_kind = ranks % 3 == 0 ? gate::with_holes : gate::skewed;
            check(setup, {5, false, scaling::exact}, element::bf16, row_transfer::in_logfmt);
        }
    }
}

TEST_CASE("moe: low latency with results that are sent in place", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        const scenario setup = small_group_of(ranks, 1 + ranks % 5);
        check(setup, {12, false, scaling::exact}, ranks % 3 == 0 ? element::fp32 : element::bf16,
              row_transfer::in_place);
    }
}

// Many experts on a rank with few rows each; ranks without tokens, and ranks without rows.
TEST_CASE("moe: low latency with 288 experts, in LogFMT and in place", "[moe]") {
    for (const gate kind : {gate::even, gate::skewed, gate::with_holes}) {
        for (const row_transfer go : {row_transfer::in_logfmt, row_transfer::in_place}) {
            scenario setup = deep_ep();
            setup.uneven = true;
            setup.tokens = 4;
            setup.hidden = 128;
            setup.gate_kind = kind;
            check(setup, {4, false, scaling::exact}, element::bf16, go);
        }
    }
}

TEST_CASE("moe: low latency with masked ranks, in LogFMT and in place", "[moe]") {
    for (const row_transfer transfer : {row_transfer::in_logfmt, row_transfer::in_place}) {
        scenario setup = two_masked();
        setup.hidden = 256;
        check(setup, {12, false, scaling::exact}, element::bf16, transfer);
    }
}

TEST_CASE("moe: low-latency combine refuses tensors that do not fit the transfer", "[moe]") {
    const test::log_capture log;
    scenario setup{.ranks = 1, .ranks_per_node = 1, .hidden = 128};
    world all(setup);
    own_matrix x(all.tokens(0), setup.hidden, element::bf16);
    own_matrix values(std::uint64_t{32} * setup.experts, setup.hidden, element::bf16);
    std::vector<std::vector<std::byte>> sums;
    low_latency_dispatch dispatched;
    REQUIRE(dispatched.init(all.team(0), {32, false, scaling::exact}, all.topk(0),
                            {x.view(), values.stack(32), {}, {}}) == UCS_OK);
    all.run_well({&dispatched});
    const auto init = [&](row_transfer transfer, std::uint32_t hidden, element type,
                          std::uint32_t gap = 0, std::uint32_t apart = 1) {
        own_matrix dense(std::uint64_t{32} * setup.experts, hidden, type);
        own_matrix y(std::uint64_t{32} * setup.experts, hidden, type, gap, apart);
        dense.fill(2);
        for (std::uint64_t row = 0; row < y.view().rows; ++row)
            copy_row(y.view(), row, dense.view(), row);
        own_matrix weights(all.tokens(0), setup.k, element::fp32);
        own_matrix sum(all.tokens(0), hidden, type);
        weights.fill(1);
        low_latency_combine back;
        const ucs_status_t status =
            back.init(dispatched.made(), {y.stack(32), weights.view(), sum.view(), transfer});
        if (status != UCS_OK) return status;
        all.run_well({&back});
        sums.clear();
        for (std::uint32_t token = 0; token < all.tokens(0); ++token)
            sums.push_back(sum.row(token));
        return status;
    };
    CHECK(init(row_transfer::in_logfmt, 128, element::bf16) == UCS_OK);
    auto wanted = sums;
    CHECK(init(row_transfer::in_logfmt, 128, element::bf16, 5, 2) == UCS_OK);
    CHECK(sums == wanted);
    CHECK(init(row_transfer::in_logfmt, 192, element::bf16) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("has rows of 192 elements: give a multiple of 128") == 1);
    CHECK(init(row_transfer::in_logfmt, 128, element::fp16) == UCS_ERR_INVALID_PARAM);
    CHECK(init(row_transfer::in_logfmt, 128, element::fp32) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("x that is compressed is of fp16: give bf16") == 1);
    CHECK(init(row_transfer::in_place, 192, element::fp16) == UCS_OK);
    wanted = sums;
    CHECK(init(row_transfer::in_place, 192, element::fp16, 4) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("has rows at distances of 392 bytes: give 384, without gaps") == 1);
    CHECK(init(row_transfer::in_place, 192, element::fp16, 0, 2) == UCS_ERR_INVALID_PARAM);
    CHECK(init(row_transfer::packed, 192, element::fp16, 0, 2) == UCS_OK);
    CHECK(sums == wanted);
    CHECK(init(row_transfer::packed, 192, element::fp16, 4) == UCS_OK);
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
        return static_cast<double>(into.real(0, i)) * static_cast<double>(scales.real(0, i / 128));
    };
    CHECK(back(5) == 0);
    CHECK(back(128) == Approx(1e-7).epsilon(0.1));
    CHECK(back(256 + 127) == Approx(127e36).epsilon(1e-6));
    CHECK(back(256 + 64) == Approx(64e36).epsilon(0.07));
}

// An infinity must not make the scale of its group infinite, which would turn all its numbers into
// NaN.
TEST_CASE("moe: casting an infinity or NaN does not affect other numbers of its group", "[moe]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float largest = std::numeric_limits<float>::max();
    own_matrix from(1, 384, element::fp32), into(1, 384, element::fp8_e4m3);
    for (const scaling format : {scaling::exact, scaling::power_of_two, scaling::exponent}) {
        own_matrix scales(1, 3, ucg::moe::scale_type(format));
        for (std::uint32_t i = 0; i < 384; ++i)
            put_float(from.view(), 0, i, i < 256 ? 1.0F : largest);
        put_float(from.view(), 0, 3, infinity);
        put_float(from.view(), 0, 4, -infinity);
        put_float(from.view(), 0, 128 + 7, std::numeric_limits<float>::quiet_NaN());
        put_float(from.view(), 0, 256 + 9, infinity);
        cast_row(into.view(), scales.view(), 0, from.view(), 0, format);
        const std::vector<std::byte> made = into.row(0);
        const auto bits = [&](std::uint32_t i) { return std::to_integer<unsigned>(made[i]); };
        const std::vector<float> ones(128, 1.0F), largest_ones(128, largest);
        const cast_group one = cast(ones, format), large = cast(largest_ones, format);
        for (std::uint32_t i = 0; i < 384; ++i) {
            if (i == 3 || i == 256 + 9)
                CHECK(bits(i) == 0x7e);  // 448, the largest
            else if (i == 4)
                CHECK(bits(i) == 0xfe);
            else if (i == 128 + 7)
                CHECK((bits(i) & 0x7f) == 0x7f);  // NaN
            else
                CHECK(bits(i) == (i < 256 ? one : large).numbers[0]);
        }
        for (std::uint32_t group = 0; group < 3; ++group) {
            const cast_group& wanted = group < 2 ? one : large;
            if (format == scaling::exponent)
                CHECK(std::ldexp(1.0F, std::to_integer<int>(scales.row(0)[group]) - 127) ==
                      wanted.scale);
            else
                CHECK(scales.real(0, group) == wanted.scale);
        }
    }
}

TEST_CASE("moe: casting with power-of-two scales rounds the exact scale up", "[moe]") {
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
