// Dispatch and combine against plain loops over all ranks' inputs, bit for bit.
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>

#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/combine.hpp"
#include "ucg/moe/dispatch.hpp"
#include "ucg/moe/matrices.hpp"
#include "ucg/moe/routed_dispatch.hpp"

using namespace test::moe;
using reduce::element;
using ucg::moe::combine;
using ucg::moe::dispatch;
using ucg::moe::expansion;
using ucg::moe::plan;
using ucg::moe::route;
using ucg::moe::scales;
using ucg::moe::values;
using ucg::moe::weights;

namespace {

struct variant {
    element type = element::bf16;
    element scale_type = element::fp32;
    std::uint32_t scale_count = 0;  // 0: none
    bool with_weights = false;
    std::uint32_t alignment = 0;  // 0: a row for each token
    std::uint32_t gap = 0;        // behind rows
    bool columns = false;         // scales column by column
    unsigned biases = 0;
    std::uint32_t spare = 0;  // rows of the output that are too many
    unsigned rounds = 1;      // of new operations
    unsigned starts = 1;      // of each
};

// Bit for bit.
bool is_same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

float rounded(element type, float value) {
    std::byte bytes[4];
    put_rounded(type, value, bytes);
    return widened(type, bytes);
}

bool is_zero(const std::vector<std::byte>& row) {
    return std::ranges::all_of(row, [](std::byte each) { return each == std::byte{0}; });
}

bool same_rows(const own_matrix& a, std::uint64_t i, const own_matrix& b, std::uint64_t j) {
    const const_matrix first = a.view(), second = b.view();
    const std::size_t size = first.element_bytes();
    for (std::uint32_t h = 0; h < first.elements; ++h)
        if (std::memcmp(first.row(i) + h * first.element_stride,
                        second.row(j) + h * second.element_stride, size) != 0)
            return false;
    return true;
}

// What one rank gives and gets.
struct rank_data {
    own_matrix x, scale, weight;                      // given to dispatch
    own_matrix out_x, out_scale, out_weight, chosen;  // got
    own_matrix y, y_weight, bias[2];                  // given to combine
    own_matrix sum, sum_weight;                       // got
    std::vector<float> shares;                        // what comes of y
    std::unique_ptr<expansion> expanded;
};

class trial {
public:
    trial(const scenario& of, const variant& with)
        : all_(of), with_(with), plans_(all_.plans()), places_(all_.gates().places()) {
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            rows_.push_back(all_.gates().rows_of(rank));
            if (with.alignment != 0) begins_.push_back(all_.gates().begins(rank, with.alignment));
            data_.emplace_back();
            if (all_.lives(rank)) prepare(rank);
        }
    }

    void dispatch_all(std::uint64_t round) {
        std::deque<dispatch> all(all_.of().ranks);
        std::vector<ucg::schedule::program*> programs(all_.of().ranks);
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            if (!all_.lives(rank)) continue;
            rank_data& at = data_[rank];
            ucg::moe::dispatch_tensors what;
            what.from = {at.weight.view(), at.scale.view(), at.x.view()};
            what.into.into = {at.out_weight.view(), at.out_scale.view(), at.out_x.view()};
            what.into.chosen = at.chosen.view();
            what.into.expanded = at.expanded.get();
            what.zero_padding = true;
            REQUIRE(all[rank].init(plans_[rank], what) == UCS_OK);
            programs[rank] = &all[rank];
        }
        for (unsigned start = 0; start < with_.starts; ++start) {
            fill_tokens(round + 1000 * start);
            all_.run_well(programs);
            for (rank_t rank = 0; rank < all_.of().ranks; ++rank)
                if (all_.lives(rank)) check_dispatch(rank);
        }
    }

    // Other tokens; and nothing in the outputs that an earlier start could have left there.
    void fill_tokens(std::uint64_t round) {
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            rank_data& at = data_[rank];
            at.x.fill(mix(all_.of().seed, rank, round));
            at.scale.fill(mix(all_.of().seed, rank, round + 100));
            at.weight.fill(mix(all_.of().seed, rank, round + 200));
            for (own_matrix* each : {&at.out_x, &at.out_scale, &at.out_weight, &at.chosen})
                each->spoil();
        }
    }
    void fill_results(std::uint64_t round) {
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            rank_data& at = data_[rank];
            at.y.fill(mix(all_.of().seed, rank, round + 300));
            at.y_weight.fill(mix(all_.of().seed, rank, round + 400));
            at.shares = shares_of(rank);
            for (unsigned i = 0; i < 2; ++i)
                at.bias[i].fill(mix(all_.of().seed, rank, round + 500 + i));
            at.sum.spoil();
            at.sum_weight.spoil();
        }
    }

    void combine_all(std::uint64_t round) {
        std::deque<combine> all(all_.of().ranks);
        std::vector<ucg::schedule::program*> programs(all_.of().ranks);
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            if (!all_.lives(rank)) continue;
            rank_data& at = data_[rank];
            ucg::moe::combine_tensors what;
            what.from[weights] = at.y_weight.view();
            what.from[values] = at.y.view();
            what.expanded = at.expanded.get();
            what.into[weights] = at.sum_weight.view();
            what.into[values] = at.sum.view();
            what.bias = {at.bias[0].view(), at.bias[1].view()};
            REQUIRE(all[rank].init(plans_[rank], what) == UCS_OK);
            programs[rank] = &all[rank];
        }
        for (unsigned start = 0; start < with_.starts; ++start) {
            fill_results(round + 1000 * start);
            all_.run_well(programs);
            for (rank_t rank = 0; rank < all_.of().ranks; ++rank)
                if (all_.lives(rank)) check_combine(rank);
        }
    }

    // Notify and dispatch at once, into outputs with room for the worst.
    void dispatch_unseen() {
        std::deque<ucg::moe::routed_dispatch> all(all_.of().ranks);
        std::vector<ucg::schedule::program*> programs(all_.of().ranks);
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            if (!all_.lives(rank)) continue;
            rank_data& at = data_[rank];
            const auto most = ucg::moe::most_rows(*all_.team(rank), all_.of().k, all_.of().tokens,
                                                  with_.alignment);
            at.out_x = own_matrix(most, all_.of().hidden, with_.type);
            at.out_weight = own_matrix(most, with_.alignment != 0 ? 1 : all_.of().k, element::fp32);
            if (with_.alignment == 0) at.chosen = own_matrix(most, all_.of().k, element::int64);
            ucg::moe::dispatch_tensors what;
            what.from = {at.weight.view(), {}, at.x.view()};
            what.into.into = {at.out_weight.view(), {}, at.out_x.view()};
            what.into.chosen = at.chosen.view();
            what.zero_padding = true;
            REQUIRE(all[rank].init(all_.team(rank), all_.topk(rank), all_.of().by, what,
                                   with_.alignment) == UCS_OK);
            programs[rank] = &all[rank];
        }
        fill_tokens(0);
        all_.run_well(programs);
        for (rank_t rank = 0; rank < all_.of().ranks; ++rank) {
            if (!all_.lives(rank)) continue;
            CHECK(all[rank].made()->in.counts == plans_[rank]->in.counts);
            check_dispatch(rank);
        }
    }

    world& all() noexcept { return all_; }
    const plan& plan_of(rank_t rank) const { return *plans_[rank]; }

private:
    void prepare(rank_t rank) {
        const scenario& of = all_.of();
        rank_data& at = data_[rank];
        const std::uint32_t k = with_.with_weights ? of.k : 0;
        const std::uint32_t tokens = all_.tokens(rank);
        at.x = own_matrix(tokens, of.hidden, with_.type, with_.gap);
        at.scale =
            own_matrix(tokens, with_.scale_count, with_.scale_type, 1, with_.columns ? 3 : 1);
        at.weight = own_matrix(tokens, k, element::fp32, with_.gap);
        std::uint64_t rows = rows_[rank].size();
        if (with_.alignment != 0) {
            auto made = expansion::make(plans_[rank]->in, with_.alignment);
            REQUIRE(made.ok());
            at.expanded = std::make_unique<expansion>(*std::move(made));
            rows = begins_[rank].back();
            CHECK(at.expanded->rows() == rows);
        } else {
            at.chosen = own_matrix(rows + with_.spare, of.k, element::int64);
        }
        const std::uint32_t columns = with_.alignment != 0 ? std::min(k, 1U) : k;
        at.out_x = own_matrix(rows + with_.spare, of.hidden, with_.type, with_.gap);
        at.out_scale = own_matrix(rows + with_.spare, with_.scale_count, with_.scale_type, 0,
                                  with_.columns ? 2 : 1);
        at.out_weight = own_matrix(rows + with_.spare, columns, element::fp32);
        const bool sums = with_.type != element::fp8_e4m3;
        at.y = own_matrix(rows, sums ? of.hidden : 0, with_.type, with_.gap);
        at.y_weight = own_matrix(rows, columns, element::fp32, with_.gap);
        for (unsigned i = 0; i < 2; ++i)
            at.bias[i] = own_matrix(tokens, with_.biases > i ? of.hidden : 0, with_.type);
        at.sum = own_matrix(tokens, sums ? of.hidden : 0, with_.type, with_.gap);
        at.sum_weight = own_matrix(tokens, k, element::fp32);
    }

    void check_dispatch(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& at = data_[rank];
        if (with_.alignment != 0) {
            check_expanded(rank);
            return;
        }
        bool same = true;
        for (std::uint32_t i = 0; i < rows_[rank].size(); ++i) {
            const auto [source, token] = rows_[rank][i];
            const rank_data& from = data_[source];
            same = same && same_rows(at.out_x, i, from.x, token) &&
                   same_rows(at.out_scale, i, from.scale, token);
            for (std::uint32_t j = 0; j < all_.of().k; ++j) {
                const expert_t expert = all_.choice(source, token, j);
                const bool here = expert >= 0 && all_.rank_of(expert) == rank;
                const std::uint32_t local = all_.of().experts / all_.of().ranks;
                const std::int64_t wanted = here ? expert % static_cast<std::int64_t>(local) : -1;
                same = same && integer_at(at.chosen.view(), i, j) == wanted;
                if (with_.with_weights)
                    same = same &&
                           at.out_weight.real(i, j) == (here ? from.weight.real(token, j) : 0.0F);
            }
        }
        for (std::uint64_t i = rows_[rank].size(); i < rows_[rank].size() + with_.spare; ++i)
            same = same && integer_at(at.chosen.view(), i, 0) == -1 &&
                   integer_at(at.chosen.view(), i, all_.of().k - 1) == -1;
        CHECK(same);
    }

    // Calls each(choice, expert of the rank, row of the expanded layout) for a token's choices.
    template<class Each>
    void for_each_choice(rank_t rank, row of, const Each& each) const {
        for (std::uint32_t j = 0; j < all_.of().k; ++j) {
            const std::int64_t here = all_.gates().choice_at(rank, of, j);
            if (here < 0) continue;
            const auto expert = static_cast<std::uint32_t>(here);
            const std::uint32_t place = places_[of.source][std::size_t{of.token} * all_.of().k + j];
            each(j, expert, begins_[rank][expert] + place);
        }
    }

    void check_expanded(rank_t rank) {
        const rank_data& at = data_[rank];
        std::vector<bool> is_token(begins_[rank].back());
        std::vector<std::uint32_t> counts(begins_[rank].size() - 1);
        bool same = true;
        for (const row each : rows_[rank]) {
            const rank_data& from = data_[each.source];
            for_each_choice(rank, each, [&](std::uint32_t j, std::uint32_t e, std::uint32_t i) {
                same = same && same_rows(at.out_x, i, from.x, each.token) &&
                       same_rows(at.out_scale, i, from.scale, each.token);
                if (with_.with_weights)
                    same = same && at.out_weight.real(i, 0) == from.weight.real(each.token, j);
                is_token[i] = true;
                ++counts[e];
            });
        }
        for (std::uint32_t e = 0; e < counts.size(); ++e)
            same = same && at.expanded->begin(e) == begins_[rank][e] &&
                   at.expanded->count(e) == counts[e];
        for (std::uint32_t i = 0; i < is_token.size(); ++i)
            if (!is_token[i]) same = same && is_zero(at.out_x.row(i));
        CHECK(same);
    }

    // What a rank with a token of another one, or a relay, adds to its sum.
    struct holder {
        rank_t rank;
        std::uint32_t received;  // its row
    };
    struct addend {
        rank_t order;  // the rank whose place it takes
        bool relayed;
        std::vector<holder> of;
    };
    std::vector<addend> addends_of(row of) const {
        std::vector<rank_t> ranks;
        for (std::uint32_t j = 0; j < all_.of().k; ++j) {
            const expert_t expert = all_.choice(of.source, of.token, j);
            if (expert >= 0 && all_.lives(all_.rank_of(expert)))
                ranks.push_back(all_.rank_of(expert));
        }
        std::ranges::sort(ranks);
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        std::vector<addend> made;
        for (const rank_t rank : ranks) {
            const rank_t node = all_.where().node_of(rank);
            const bool relayed = plans_[of.source]->out.relayed[node] != 0;
            const rank_t order = relayed ? all_.where().at(node, 0) : rank;
            auto at = std::ranges::find_if(
                made, [&](const addend& each) { return relayed && each.order == order; });
            if (at == made.end()) at = made.insert(at, {order, relayed, {}});
            at->of.push_back({rank, index_of(rows_[rank], of)});
        }
        std::ranges::sort(made, {}, &addend::order);
        return made;
    }

    // Of value(holder) over all holders, rounded where a relay rounds.
    template<class Value>
    static float sum_of(const std::vector<addend>& addends, element type, const Value& value) {
        float sum = 0;
        for (std::size_t i = 0; i < addends.size(); ++i) {
            const std::vector<holder>& of = addends[i].of;
            float inner = value(of[0]);
            for (std::size_t j = 1; j < of.size(); ++j)
                inner += value(of[j]);
            if (addends[i].relayed) inner = rounded(type, inner);
            sum = i == 0 ? inner : sum + inner;
        }
        return sum;
    }

    // The rank's share of the tokens that it received: of one row, or of those of its experts,
    // rounded.
    std::vector<float> shares_of(rank_t rank) const {
        const own_matrix& y = data_[rank].y;
        const std::uint32_t hidden = y.view().elements;
        std::vector<float> made(rows_[rank].size() * hidden);
        for (std::uint32_t i = 0; i < rows_[rank].size(); ++i) {
            std::vector<std::uint32_t> from{i};
            if (with_.alignment != 0) {
                from.clear();
                for_each_choice(
                    rank, rows_[rank][i],
                    [&](std::uint32_t, std::uint32_t, std::uint32_t at) { from.push_back(at); });
            }
            for (std::uint32_t h = 0; h < hidden; ++h) {
                float sum = y.real(from[0], h);
                for (std::size_t j = 1; j < from.size(); ++j)
                    sum += y.real(from[j], h);
                made[std::size_t{i} * hidden + h] = rounded(with_.type, sum);
            }
        }
        return made;
    }

    void check_combine(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& at = data_[rank];
        const std::uint32_t hidden = all_.of().hidden;
        bool same = true;
        for (std::uint32_t token = 0; token < all_.tokens(rank); ++token) {
            const std::vector<addend> addends = addends_of({rank, token});
            for (std::uint32_t h = 0; h < hidden; ++h) {
                float sum = sum_of(addends, with_.type, [&](holder each) {
                    return data_[each.rank].shares[std::size_t{each.received} * hidden + h];
                });
                for (unsigned i = 0; i < with_.biases; ++i)
                    sum = i == 0 && addends.empty() ? at.bias[i].real(token, h)
                                                    : sum + at.bias[i].real(token, h);
                same = same && is_same(at.sum.real(token, h), rounded(with_.type, sum));
            }
            for (std::uint32_t j = 0; with_.with_weights && j < all_.of().k; ++j)
                same = same && at.sum_weight.real(token, j) ==
                                   sum_of(addends, element::fp32, [&](holder each) {
                                       return weight_at(each, {rank, token}, j);
                                   });
        }
        CHECK(same);
    }

    // Where rows are expanded each weight comes from one place; else all ranks have one.
    float weight_at(holder from, row of, std::uint32_t choice) const {
        if (with_.alignment == 0) return data_[from.rank].y_weight.real(from.received, choice);
        float found = 0;
        for_each_choice(from.rank, of, [&](std::uint32_t j, std::uint32_t, std::uint32_t i) {
            if (j == choice) found = data_[from.rank].y_weight.real(i, 0);
        });
        return found;
    }

    world all_;
    variant with_;
    std::vector<std::shared_ptr<const plan>> plans_;
    std::vector<std::vector<std::uint32_t>> places_;
    std::vector<std::vector<row>> rows_;
    std::vector<std::vector<std::uint32_t>> begins_;  // of each rank's experts, where expanded
    std::deque<rank_data> data_;
};

void check(const scenario& of, const variant& with) {
    INFO(text(of) << ", type " << reduce::name(with.type) << ", alignment " << with.alignment
                  << ", gap " << with.gap << (with.with_weights ? ", weights" : ""));
    trial one(of, with);
    for (unsigned round = 0; round < with.rounds; ++round) {
        one.dispatch_all(round);
        if (with.type != element::fp8_e4m3) one.combine_all(round);
    }
}

}  // namespace

TEST_CASE("moe: dispatch and combine in groups of 1 to 17 ranks", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        scenario of;
        of.ranks = ranks;
        of.ranks_per_node = 1 + ranks % 4;
        of.experts = ranks * (1 + ranks % 3);
        of.k = std::min(of.experts, 1 + ranks % 5);
        of.seed = ranks;
        of.how = static_cast<gate>(ranks % 5);
        of.by.how = ranks % 2 == 0 ? route::relayed : route::direct;
        of.disorder = true;
        variant with;
        with.with_weights = ranks % 3 == 0;
        with.biases = ranks % 3;
        check(of, with);
    }
}

TEST_CASE("moe: any number of ranks on a node, any gate, either route", "[moe]") {
    for (const rank_t per_node : {1U, 2U, 3U, 4U, 8U}) {
        for (const gate how :
             {gate::even, gate::skewed, gate::one_rank, gate::with_holes, gate::repeated}) {
            for (const route by : {route::direct, route::relayed, route::choose}) {
                scenario of;
                of.ranks = 12;
                of.ranks_per_node = per_node;
                of.experts = 24;
                of.k = 6;
                of.tokens = 12;
                of.how = how;
                of.by.how = by;
                of.disorder = true;
                of.seed = per_node + 10;
                variant with;
                with.with_weights = true;
                check(of, with);
            }
        }
    }
}

TEST_CASE("moe: nodes of different sizes, out of order, under random delays", "[moe]") {
    scenario of;
    of.ranks = 9;
    of.nodes = {5, 1, 5, 2, 5, 1, 5, 7, 5};
    of.experts = 27;
    of.k = 4;
    of.disorder = true;
    for (of.seed = 1; of.seed <= 20; ++of.seed) {
        variant with;
        with.alignment = of.seed % 2 == 0 ? 4 : 0;
        check(of, with);
    }
}

TEST_CASE("moe: types, scales, strides and weights", "[moe]") {
    scenario of;
    of.ranks = 8;
    of.ranks_per_node = 4;
    of.k = 3;
    of.hidden = 5;
    of.disorder = true;
    for (const element type : {element::bf16, element::fp16, element::fp32, element::fp8_e4m3}) {
        for (const unsigned form : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
            variant with;
            with.type = type;
            with.with_weights = (form & 1U) != 0;
            with.gap = (form & 2U) != 0 ? 3 : 0;
            with.alignment = (form & 4U) != 0 ? 8 : 0;
            if (type == element::fp8_e4m3) {
                with.scale_count = 3;
                with.columns = (form & 2U) != 0;
                with.scale_type = (form & 1U) != 0 ? element::uint8 : element::fp32;
            }
            with.biases = form % 3;
            check(of, with);
        }
    }
}

TEST_CASE("moe: more rows than needed, and a plan that is used again", "[moe]") {
    scenario of;
    of.ranks = 6;
    of.ranks_per_node = 3;
    of.experts = 12;
    of.k = 4;
    variant with;
    with.spare = 7;
    with.rounds = 2;
    with.starts = 3;
    with.with_weights = true;
    check(of, with);
    with.alignment = 16;
    check(of, with);
}

TEST_CASE("moe: notify and dispatch in one operation", "[moe]") {
    scenario of;
    of.ranks = 6;
    of.ranks_per_node = 3;
    of.experts = 12;
    of.k = 4;
    variant with;
    with.with_weights = true;
    for (const std::uint32_t alignment : {0U, 8U}) {
        with.alignment = alignment;
        trial(of, with).dispatch_unseen();
    }
}

TEST_CASE("moe: many choices of one rank are added up in their order", "[moe]") {
    scenario of;
    of.ranks = 4;
    of.experts = 32;
    of.k = 8;
    of.how = gate::one_rank;
    variant with;
    with.type = element::fp32;  // which shows every order
    with.alignment = 4;
    with.with_weights = true;
    check(of, with);
}

TEST_CASE("moe: masked ranks get nothing and are not waited for", "[moe]") {
    scenario of;
    of.ranks = 8;
    of.ranks_per_node = 4;
    of.experts = 16;
    of.k = 4;
    of.masked = {0, 1, 0, 0, 1, 0, 0, 0};
    check(of, {});
    of.masked = {1, 1, 1, 1, 0, 0, 1, 0};
    check(of, {});
}

namespace {

// Those of DeepEP's own tests: two nodes of eight ranks.
scenario deep_ep(std::uint32_t k) {
    scenario of;
    of.ranks = 16;
    of.ranks_per_node = 8;
    of.experts = 256;
    of.k = k;
    of.tokens = 4096;
    of.hidden = 2;  // which only scales what is copied
    of.by = {8, 32, route::choose, 14336, {}};
    return of;
}

// A row for each token, and the expanded layout.
void check_both(const scenario& of, variant with, std::uint32_t alignment = 128) {
    check(of, with);
    with.alignment = alignment;
    check(of, with);
}

}  // namespace

TEST_CASE("moe: 4096 tokens, 256 experts, 8 choices on two nodes of eight", "[moe]") {
    scenario of = deep_ep(8);
    of.uneven = false;
    variant with;
    with.with_weights = true;
    check_both(of, with);
}

TEST_CASE("moe: 4096 tokens less the rank, 6 choices, by other gates", "[moe]") {
    scenario of = deep_ep(6);
    for (const gate how : {gate::skewed, gate::with_holes}) {
        of.how = how;
        check_both(of, {});
    }
}

TEST_CASE("moe: 4096 tokens less the rank, 6 choices, some ranks masked", "[moe]") {
    scenario of = deep_ep(6);
    of.masked.assign(of.ranks, 0);
    of.masked[1] = of.masked[11] = 1;
    check_both(of, {});
}

TEST_CASE("moe: rows of 7168 elements, 256 experts, 8 choices", "[moe]") {
    scenario of = deep_ep(8);
    of.hidden = 7168;
    of.tokens = 6;
    variant with;
    with.with_weights = true;
    check_both(of, with, 4);
    with.type = element::fp8_e4m3;
    with.scale_count = 56;
    check_both(of, with, 4);
}

// With DeepEP's rows; for fewer ranks, of gigabytes.
TEST_CASE("moe: 4096 tokens of 7168 elements, 256 experts, 8 choices", "[moe]") {
    if (!has_time()) return;
    for (const std::uint32_t k : {8U, 6U}) {
        scenario of = deep_ep(k);
        of.ranks = 2;
        of.ranks_per_node = 1;
        of.hidden = 7168;
        of.uneven = k == 6;
        variant with;
        with.with_weights = true;
        check_both(of, with);
    }
}

// Two hops, with rows of that length.
TEST_CASE("moe: 4096 tokens of 7168 elements on two nodes of two", "[moe]") {
    if (!has_time()) return;
    scenario of = deep_ep(8);
    of.ranks = 4;
    of.ranks_per_node = 2;
    of.hidden = 7168;
    of.by.how = route::relayed;
    variant with;
    with.with_weights = true;
    check(of, with);
}

TEST_CASE("moe: one copy passes the network for each token and node", "[moe]") {
    scenario of;
    of.ranks = 16;
    of.ranks_per_node = 4;
    of.experts = 64;
    of.k = 8;
    of.hidden = 512;
    for (const route how : {route::direct, route::relayed}) {
        of.by.how = how;
        trial one(of, {});
        std::uint64_t copies = 0;
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            for (std::uint32_t token = 0; token < one.all().tokens(rank); ++token) {
                for (rank_t node = 0; node < 4; ++node) {
                    if (node == rank / 4) continue;
                    std::uint64_t there = 0;
                    for (rank_t to = node * 4; to < node * 4 + 4; ++to)
                        there += one.all().goes(rank, token, to) ? 1U : 0U;
                    copies += how == route::direct ? there : std::min<std::uint64_t>(there, 1);
                }
            }
        }
        const auto sent = [&] {
            std::uint64_t sum = 0;
            for (rank_t node = 0; node < one.all().net().nodes(); ++node)
                sum += one.all().net().node_out(node).bytes;
            return sum;
        };
        const std::uint64_t before = sent();
        one.dispatch_all(0);
        CHECK(sent() - before == copies * of.hidden * 2);
        const std::uint64_t between = sent();
        one.combine_all(0);
        CHECK(sent() - between == copies * of.hidden * 2);
    }
}
