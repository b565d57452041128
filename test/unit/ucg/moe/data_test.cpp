// Dispatch and combine against plain loops over all ranks' inputs, bit for bit.
#include <catch2/catch.hpp>
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

// For each expert of a rank its rows of the expanded layout: which received row, which choice.
struct expanded_row {
    std::uint32_t received, j;
};
std::vector<std::vector<expanded_row>> expand(const world& all, rank_t rank,
                                              const std::vector<row>& rows) {
    const std::uint32_t local = all.of().experts / all.of().ranks;
    std::vector<std::vector<expanded_row>> made(local);
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        for (std::uint32_t j = 0; j < all.of().k; ++j) {
            const expert_t expert = all.choice(rows[i].source, rows[i].token, j);
            if (expert >= 0 && all.rank_of(expert) == rank)
                made[static_cast<std::size_t>(expert) % local].push_back({i, j});
        }
    }
    return made;
}

// What one rank gives and gets.
struct rank_data {
    own_matrix x, scale, weight;                      // given to dispatch
    own_matrix out_x, out_scale, out_weight, chosen;  // got
    own_matrix y, y_weight, bias[2];                  // given to combine
    own_matrix sum, sum_weight;                       // got
    std::unique_ptr<expansion> expanded;
};

class trial {
public:
    trial(const scenario& of, const variant& with) : all_(of), with_(with), plans_(all_.plans()) {
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            rows_.push_back(rows_of(all_, rank));
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
            rows = 0;
            for (const auto& each : expand(all_, rank, rows_[rank]))
                rows += (each.size() + with_.alignment - 1) / with_.alignment * with_.alignment;
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
            same = same && at.out_x.row(i) == from.x.row(token) &&
                   at.out_scale.row(i) == from.scale.row(token);
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

    void check_expanded(rank_t rank) {
        const rank_data& at = data_[rank];
        std::uint32_t at_row = 0;
        bool same = true;
        const auto experts = expand(all_, rank, rows_[rank]);
        for (std::uint32_t e = 0; e < experts.size(); ++e) {
            same = same && at.expanded->begin(e) == at_row &&
                   at.expanded->count(e) == experts[e].size();
            for (const expanded_row& each : experts[e]) {
                const auto [source, token] = rows_[rank][each.received];
                same = same && at.out_x.row(at_row) == data_[source].x.row(token) &&
                       at.out_scale.row(at_row) == data_[source].scale.row(token);
                if (with_.with_weights)
                    same = same && at.out_weight.real(at_row, 0) ==
                                       data_[source].weight.real(token, each.j);
                ++at_row;
            }
            for (; at_row % with_.alignment != 0; ++at_row)
                for (const std::byte byte : at.out_x.row(at_row))
                    same = same && byte == std::byte{0};
        }
        CHECK(same);
    }

    // The rank's share of a token: of one row, or of those of its experts, rounded.
    std::vector<std::byte> share(rank_t rank, std::uint32_t received) const {
        const rank_data& at = data_[rank];
        if (with_.alignment == 0) return at.y.row(received);
        std::vector<std::vector<float>> terms;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> in_order;  // choice, row
        std::uint32_t row = 0;
        for (const auto& expert : expand(all_, rank, rows_[rank])) {
            for (const expanded_row& each : expert) {
                if (each.received == received) in_order.emplace_back(each.j, row);
                ++row;
            }
            row = (row + with_.alignment - 1) / with_.alignment * with_.alignment;
        }
        std::ranges::sort(in_order);
        for (const auto& [j, from] : in_order) {
            terms.emplace_back();
            for (std::uint32_t i = 0; i < all_.of().hidden; ++i)
                terms.back().push_back(at.y.real(from, i));
        }
        return sum(terms);
    }

    std::vector<float> wide(const std::vector<std::byte>& row) const {
        const std::size_t size = reduce::size_of(with_.type);
        std::vector<float> made;
        for (std::size_t i = 0; i < row.size(); i += size)
            made.push_back(widened(with_.type, row.data() + i));
        return made;
    }

    std::vector<std::byte> sum(const std::vector<std::vector<float>>& terms) const {
        const std::size_t size = reduce::size_of(with_.type);
        std::vector<std::byte> made(all_.of().hidden * size);
        for (std::uint32_t i = 0; i < all_.of().hidden; ++i) {
            float value = terms.empty() ? 0.0F : terms[0][i];
            for (std::size_t t = 1; t < terms.size(); ++t)
                value += terms[t][i];
            put_rounded(with_.type, value, made.data() + i * size);
        }
        return made;
    }

    std::uint32_t received_as(rank_t rank, rank_t source, std::uint32_t token) const {
        const row wanted{source, token};
        const auto found = std::ranges::lower_bound(rows_[rank], wanted, [](row a, row b) {
            return std::pair(a.source, a.token) < std::pair(b.source, b.token);
        });
        return static_cast<std::uint32_t>(found - rows_[rank].begin());
    }

    void check_combine(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& at = data_[rank];
        const placement& where = all_.where();
        bool same = true;
        for (std::uint32_t token = 0; token < all_.tokens(rank); ++token) {
            // By the rank whose place it takes: alone, or all of a node.
            std::vector<std::pair<rank_t, std::vector<float>>> terms;
            for (rank_t node = 0; node < where.nodes(); ++node) {
                std::vector<std::pair<rank_t, std::vector<float>>> here;
                for (const rank_t holder : where.on(node))
                    if (all_.goes(rank, token, holder))
                        here.emplace_back(holder,
                                          wide(share(holder, received_as(holder, rank, token))));
                if (plans_[rank]->out.relayed[node] != 0 && !here.empty()) {
                    std::vector<std::vector<float>> inner;
                    for (const auto& each : here)
                        inner.push_back(each.second);
                    terms.emplace_back(where.at(node, 0), wide(sum(inner)));
                } else {
                    terms.insert(terms.end(), here.begin(), here.end());
                }
            }
            std::ranges::sort(terms, {}, [](const auto& each) { return each.first; });
            std::vector<std::vector<float>> all;
            for (const auto& each : terms)
                all.push_back(each.second);
            for (unsigned i = 0; i < with_.biases; ++i)
                all.push_back(wide(at.bias[i].row(token)));
            same = same && at.sum.row(token) == sum(all);
            if (with_.with_weights) same = same && weights_right(rank, token);
        }
        CHECK(same);
    }

    // Where rows are expanded each weight comes from one place; else they are sums like the values.
    bool weights_right(rank_t rank, std::uint32_t token) const {
        const rank_data& at = data_[rank];
        bool same = true;
        for (std::uint32_t j = 0; j < all_.of().k; ++j) {
            float nodes_sum = 0;
            std::vector<std::pair<rank_t, float>> terms;
            for (rank_t node = 0; node < all_.where().nodes(); ++node) {
                std::vector<std::pair<rank_t, float>> here;
                for (const rank_t holder : all_.where().on(node)) {
                    if (!all_.goes(rank, token, holder)) continue;
                    const std::uint32_t received = received_as(holder, rank, token);
                    here.emplace_back(holder, weight_at(holder, received, rank, token, j));
                }
                if (plans_[rank]->out.relayed[node] != 0 && !here.empty()) {
                    float inner = here[0].second;
                    for (std::size_t i = 1; i < here.size(); ++i)
                        inner += here[i].second;
                    terms.emplace_back(all_.where().at(node, 0), inner);
                } else {
                    terms.insert(terms.end(), here.begin(), here.end());
                }
            }
            std::ranges::sort(terms);
            for (std::size_t i = 0; i < terms.size(); ++i)
                nodes_sum = i == 0 ? terms[i].second : nodes_sum + terms[i].second;
            same = same && at.sum_weight.real(token, j) == nodes_sum;
        }
        return same;
    }

    float weight_at(rank_t holder, std::uint32_t received, rank_t source, std::uint32_t token,
                    std::uint32_t j) const {
        if (with_.alignment == 0) return data_[holder].y_weight.real(received, j);
        const expert_t expert = all_.choice(source, token, j);
        if (expert < 0 || all_.rank_of(expert) != holder) return 0;
        std::uint32_t row = 0;
        for (const auto& of_expert : expand(all_, holder, rows_[holder])) {
            for (const expanded_row& each : of_expert) {
                if (each.received == received && each.j == j)
                    return data_[holder].y_weight.real(row, 0);
                ++row;
            }
            row = (row + with_.alignment - 1) / with_.alignment * with_.alignment;
        }
        return 0;
    }

    world all_;
    variant with_;
    std::vector<std::shared_ptr<const plan>> plans_;
    std::vector<std::vector<row>> rows_;
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

TEST_CASE("moe: many ranks with as uneven numbers of tokens as there are", "[moe]") {
    scenario of;
    of.ranks = 16;
    of.ranks_per_node = 8;
    of.experts = 256;
    of.k = 6;
    of.hidden = 2;
    of.tokens = 4096;
    of.by = {8, 32, route::relayed, 4, {}};
    check(of, {});
}

TEST_CASE("moe: rows of 7168 elements, 256 experts, 8 choices", "[moe]") {
    scenario of;
    of.ranks = 16;
    of.ranks_per_node = 8;
    of.experts = 256;
    of.k = 8;
    of.hidden = 7168;
    of.tokens = 6;
    variant with;
    with.with_weights = true;
    check(of, with);
    with.type = element::fp8_e4m3;
    with.scale_count = 56;
    check(of, with);
}

// DeepEP's own shape, for fewer ranks: gigabytes.
TEST_CASE("moe: 4096 tokens of 7168 elements, 256 experts, 8 choices", "[moe]") {
    if (!has_time()) return;
    scenario of;
    of.ranks = 4;
    of.ranks_per_node = 2;
    of.experts = 256;
    of.k = 8;
    of.hidden = 7168;
    of.tokens = 4096;
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
