// Compares dispatch and combine with plain loops over the inputs of all ranks, bit for bit.
#include <bit>
#include <cstring>

#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/normal/combine.hpp"
#include "ucg/moe/normal/dispatch.hpp"
#include "ucg/moe/normal/routed_dispatch.hpp"
#include "ucg/moe/plan/matrices.hpp"

using namespace test::moe;
using reduce::element;
using namespace ucg::moe;

namespace {

struct variant {
    element type = element::bf16;
    element scale_type = element::fp32;
    std::uint32_t scale_count = 0;  // 0: none
    bool with_weights = false;
    std::uint32_t alignment = 0;  // 0: a row for each token
    std::uint32_t gap = 0;        // elements behind each row
    bool columns = false;         // scales are stored column by column
    unsigned biases = 0;
    std::uint32_t spare = 0;  // surplus rows of the output
    unsigned rounds = 1;      // number of rounds, each with new operations
    unsigned starts = 1;      // starts of each operation
};

// Compares bit for bit.
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

// Input and output of one rank.
struct rank_data {
    own_matrix x, scale, weight;                      // input of dispatch
    own_matrix out_x, out_scale, out_weight, chosen;  // output of dispatch
    own_matrix y, y_weight, bias[2];                  // input of combine
    own_matrix sum, sum_weight;                       // output of combine
    std::vector<float> shares;  // expected contribution of this rank, computed from y
    std::unique_ptr<expansion> expanded;
};

class trial {
public:
    trial(const scenario& setup, const variant& variation)
        : all_(setup), variation_(variation), plans_(all_.plans()), places_(all_.gates().places()) {
        for (rank_t rank = 0; rank < setup.ranks; ++rank) {
            rows_.push_back(all_.gates().rows_of(rank));
            if (variation.alignment != 0)
                begins_.push_back(all_.gates().begins(rank, variation.alignment));
            data_.emplace_back();
            if (all_.lives(rank)) prepare(rank);
        }
    }

    void dispatch_all(std::uint64_t round) {
        const on_all<dispatch> all(all_, [&](dispatch& made, rank_t rank) {
            rank_data& data = data_[rank];
            ucg::moe::dispatch_tensors tensors;
            tensors.from = {data.weight.view(), data.scale.view(), data.x.view()};
            tensors.into.into = {data.out_weight.view(), data.out_scale.view(), data.out_x.view()};
            tensors.into.chosen = data.chosen.view();
            tensors.into.expanded = data.expanded.get();
            tensors.zero_padding = true;
            return made.init(plans_[rank], tensors);
        });
        for (unsigned start = 0; start < variation_.starts; ++start) {
            fill_tokens(round + 1000 * start);
            all_.run_well(all.programs);
            for (const rank_t rank : all_.living())
                check_dispatch(rank);
        }
    }

    // Fills in new tokens, and overwrites the outputs of an earlier start.
    void fill_tokens(std::uint64_t round) {
        for (rank_t rank = 0; rank < all_.setup().ranks; ++rank) {
            rank_data& data = data_[rank];
            data.x.fill(mix(all_.setup().seed, rank, round));
            data.scale.fill(mix(all_.setup().seed, rank, round + 100));
            data.weight.fill(mix(all_.setup().seed, rank, round + 200));
            for (own_matrix* each : {&data.out_x, &data.out_scale, &data.out_weight, &data.chosen})
                each->spoil();
        }
    }
    void fill_results(std::uint64_t round) {
        for (rank_t rank = 0; rank < all_.setup().ranks; ++rank) {
            rank_data& data = data_[rank];
            data.y.fill(mix(all_.setup().seed, rank, round + 300));
            data.y_weight.fill(mix(all_.setup().seed, rank, round + 400));
            data.shares = shares_of(rank);
            for (unsigned i = 0; i < 2; ++i)
                data.bias[i].fill(mix(all_.setup().seed, rank, round + 500 + i));
            data.sum.spoil();
            data.sum_weight.spoil();
        }
    }

    void combine_all(std::uint64_t round) {
        const on_all<combine> all(all_, [&](combine& made, rank_t rank) {
            rank_data& data = data_[rank];
            ucg::moe::combine_tensors tensors;
            tensors.from[weights] = data.y_weight.view();
            tensors.from[values] = data.y.view();
            tensors.expanded = data.expanded.get();
            tensors.into[weights] = data.sum_weight.view();
            tensors.into[values] = data.sum.view();
            tensors.bias = {data.bias[0].view(), data.bias[1].view()};
            return made.init(plans_[rank], tensors);
        });
        for (unsigned start = 0; start < variation_.starts; ++start) {
            fill_results(round + 1000 * start);
            all_.run_well(all.programs);
            for (const rank_t rank : all_.living())
                check_combine(rank);
        }
    }

    // Notify and dispatch in one operation, into outputs with the maximum number of rows.
    void dispatch_unseen() {
        using ucg::moe::routed_dispatch;
        const on_all<routed_dispatch> all(all_, [&](routed_dispatch& made, rank_t rank) {
            rank_data& data = data_[rank];
            const auto most = ucg::moe::max_rows(*all_.team(rank), all_.setup().k,
                                                 all_.setup().tokens, variation_.alignment);
            data.out_x = own_matrix(most, all_.setup().hidden, variation_.type);
            data.out_weight =
                own_matrix(most, variation_.alignment != 0 ? 1 : all_.setup().k, element::fp32);
            if (variation_.alignment == 0)
                data.chosen = own_matrix(most, all_.setup().k, element::int64);
            ucg::moe::dispatch_tensors tensors;
            tensors.from = {data.weight.view(), {}, data.x.view()};
            tensors.into.into = {data.out_weight.view(), {}, data.out_x.view()};
            tensors.into.chosen = data.chosen.view();
            tensors.zero_padding = true;
            return made.init(all_.team(rank), all_.topk(rank), all_.setup().settings, tensors,
                             variation_.alignment);
        });
        fill_tokens(0);
        all_.run_well(all.programs);
        for (const rank_t rank : all_.living()) {
            CHECK(all.each[rank].made()->receives.counts == plans_[rank]->receives.counts);
            check_dispatch(rank);
        }
    }

    world& all() noexcept { return all_; }
    const plan& plan_of(rank_t rank) const { return *plans_[rank]; }

private:
    void prepare(rank_t rank) {
        const scenario& setup = all_.setup();
        rank_data& data = data_[rank];
        const std::uint32_t k = variation_.with_weights ? setup.k : 0;
        const std::uint32_t tokens = all_.tokens(rank);
        data.x = own_matrix(tokens, setup.hidden, variation_.type, variation_.gap);
        data.scale = own_matrix(tokens, variation_.scale_count, variation_.scale_type, 1,
                                variation_.columns ? 3 : 1);
        data.weight = own_matrix(tokens, k, element::fp32, variation_.gap);
        std::uint64_t rows = rows_[rank].size();
        if (variation_.alignment != 0) {
            auto made = expansion::make(plans_[rank]->receives, variation_.alignment);
            REQUIRE(made.ok());
            data.expanded = std::make_unique<expansion>(*std::move(made));
            rows = begins_[rank].back();
            CHECK(data.expanded->rows() == rows);
        } else {
            data.chosen = own_matrix(rows + variation_.spare, setup.k, element::int64);
        }
        const std::uint32_t columns = variation_.alignment != 0 ? std::min(k, 1U) : k;
        data.out_x =
            own_matrix(rows + variation_.spare, setup.hidden, variation_.type, variation_.gap);
        data.out_scale = own_matrix(rows + variation_.spare, variation_.scale_count,
                                    variation_.scale_type, 0, variation_.columns ? 2 : 1);
        data.out_weight = own_matrix(rows + variation_.spare, columns, element::fp32);
        const bool sums = variation_.type != element::fp8_e4m3;
        data.y = own_matrix(rows, sums ? setup.hidden : 0, variation_.type, variation_.gap);
        data.y_weight = own_matrix(rows, columns, element::fp32, variation_.gap);
        for (unsigned i = 0; i < 2; ++i)
            data.bias[i] =
                own_matrix(tokens, variation_.biases > i ? setup.hidden : 0, variation_.type);
        data.sum = own_matrix(tokens, sums ? setup.hidden : 0, variation_.type, variation_.gap);
        data.sum_weight = own_matrix(tokens, k, element::fp32);
    }

    void check_dispatch(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& data = data_[rank];
        if (variation_.alignment != 0) {
            check_expanded(rank);
            return;
        }
        bool same = true;
        for (std::uint32_t i = 0; i < rows_[rank].size(); ++i) {
            const auto [source, token] = rows_[rank][i];
            const rank_data& from = data_[source];
            same = same && same_rows(data.out_x, i, from.x, token) &&
                   same_rows(data.out_scale, i, from.scale, token);
            for (std::uint32_t j = 0; j < all_.setup().k; ++j) {
                const std::int64_t wanted = all_.gates().choice_at(rank, rows_[rank][i], j);
                same = same && integer_at(data.chosen.view(), i, j) == wanted;
                if (variation_.with_weights)
                    same = same && data.out_weight.real(i, j) ==
                                       (wanted >= 0 ? from.weight.real(token, j) : 0.0F);
            }
        }
        for (std::uint64_t i = rows_[rank].size(); i < rows_[rank].size() + variation_.spare; ++i)
            same = same && integer_at(data.chosen.view(), i, 0) == -1 &&
                   integer_at(data.chosen.view(), i, all_.setup().k - 1) == -1;
        CHECK(same);
    }

    // Calls each(choice, row of the expanded layout) for a token's choices.
    template<class Each>
    void for_each_choice(rank_t rank, row token_row, const Each& each) const {
        for (std::uint32_t j = 0; j < all_.setup().k; ++j) {
            const std::int64_t local = all_.gates().choice_at(rank, token_row, j);
            if (local < 0) continue;
            const auto expert = static_cast<std::uint32_t>(local);
            const std::uint32_t place =
                places_[token_row.source][std::size_t{token_row.token} * all_.setup().k + j];
            each(j, begins_[rank][expert] + place);
        }
    }

    void check_expanded(rank_t rank) {
        const rank_data& data = data_[rank];
        std::vector<bool> is_token(begins_[rank].back());
        std::vector<std::uint32_t> counts(begins_[rank].size() - 1);
        bool same = true;
        for (const expanded_row& each : all_.gates().expanded_rows(rank)) {
            const auto [source, token] = each.token;
            const rank_data& from = data_[source];
            const std::uint32_t i = begins_[rank][each.expert] + each.place;
            same = same && same_rows(data.out_x, i, from.x, token) &&
                   same_rows(data.out_scale, i, from.scale, token);
            if (variation_.with_weights)
                same = same && data.out_weight.real(i, 0) == from.weight.real(token, each.choice);
            is_token[i] = true;
            ++counts[each.expert];
        }
        for (std::uint32_t e = 0; e < counts.size(); ++e)
            same = same && data.expanded->begin(e) == begins_[rank][e] &&
                   data.expanded->count(e) == counts[e];
        for (std::uint32_t i = 0; i < is_token.size(); ++i)
            if (!is_token[i]) same = same && is_zero(data.out_x.row(i));
        CHECK(same);
    }

    // An addend of a token's sum: the row of one rank, or the sum of a relay over several ranks.
    struct holder {
        rank_t rank;
        std::uint32_t received;  // index of the token's row on this rank
    };
    struct addend {
        rank_t order;  // the rank whose position in the sum it takes
        bool relayed;
        std::vector<holder> holders;
    };
    std::vector<addend> addends_of(row token_row) const {
        std::vector<addend> made;
        for (rank_t rank = 0; rank < all_.setup().ranks; ++rank) {
            if (!all_.gates().goes(token_row, rank)) continue;
            const rank_t node = all_.node_placement().node_of(rank);
            const bool relayed = plans_[token_row.source]->sends.relayed[node] != 0;
            const rank_t order = relayed ? all_.node_placement().at(node, 0) : rank;
            auto found = std::ranges::find_if(
                made, [&](const addend& each) { return relayed && each.order == order; });
            if (found == made.end()) found = made.insert(found, {order, relayed, {}});
            found->holders.push_back({rank, index_of(rows_[rank], token_row)});
        }
        std::ranges::sort(made, {}, &addend::order);
        return made;
    }

    // Returns the sum of value(holder) over all holders. A relay's sum is rounded.
    template<class Value>
    static float sum_of(const std::vector<addend>& addends, element type, const Value& value) {
        float sum = 0;
        for (std::size_t i = 0; i < addends.size(); ++i) {
            const std::vector<holder>& holders = addends[i].holders;
            float inner = value(holders[0]);
            for (std::size_t j = 1; j < holders.size(); ++j)
                inner += value(holders[j]);
            if (addends[i].relayed) inner = rounded(type, inner);
            sum = i == 0 ? inner : sum + inner;
        }
        return sum;
    }

    // Returns the rank's contribution to each token that it received: its row or, with the expanded
    // layout, the rounded sum of the rows of its experts.
    std::vector<float> shares_of(rank_t rank) const {
        const own_matrix& y = data_[rank].y;
        const std::uint32_t hidden = y.view().elements;
        std::vector<float> made(rows_[rank].size() * hidden);
        for (std::uint32_t i = 0; i < rows_[rank].size(); ++i) {
            std::vector<std::uint32_t> from{i};
            if (variation_.alignment != 0) {
                from.clear();
                for_each_choice(rank, rows_[rank][i],
                                [&](std::uint32_t, std::uint32_t index) { from.push_back(index); });
            }
            for (std::uint32_t h = 0; h < hidden; ++h) {
                float sum = y.real(from[0], h);
                for (std::size_t j = 1; j < from.size(); ++j)
                    sum += y.real(from[j], h);
                made[std::size_t{i} * hidden + h] = rounded(variation_.type, sum);
            }
        }
        return made;
    }

    void check_combine(rank_t rank) {
        INFO("rank " << rank);
        const rank_data& data = data_[rank];
        const std::uint32_t hidden = all_.setup().hidden;
        bool same = true;
        for (std::uint32_t token = 0; token < all_.tokens(rank); ++token) {
            const std::vector<addend> addends = addends_of({rank, token});
            for (std::uint32_t h = 0; h < hidden; ++h) {
                float sum = sum_of(addends, variation_.type, [&](holder each) {
                    return data_[each.rank].shares[std::size_t{each.received} * hidden + h];
                });
                for (unsigned i = 0; i < variation_.biases; ++i)
                    sum = i == 0 && addends.empty() ? data.bias[i].real(token, h)
                                                    : sum + data.bias[i].real(token, h);
                same = same && is_same(data.sum.real(token, h), rounded(variation_.type, sum));
            }
            for (std::uint32_t j = 0; variation_.with_weights && j < all_.setup().k; ++j)
                same = same && data.sum_weight.real(token, j) ==
                                   sum_of(addends, element::fp32, [&](holder each) {
                                       return weight_at(each, {rank, token}, j);
                                   });
        }
        CHECK(same);
    }

    // With the expanded layout each weight comes from one expanded row; otherwise every rank has a
    // weight for each choice.
    float weight_at(holder from, row token_row, std::uint32_t choice) const {
        if (variation_.alignment == 0) return data_[from.rank].y_weight.real(from.received, choice);
        float found = 0;
        for_each_choice(from.rank, token_row, [&](std::uint32_t j, std::uint32_t i) {
            if (j == choice) found = data_[from.rank].y_weight.real(i, 0);
        });
        return found;
    }

    world all_;
    variant variation_;
    std::vector<std::shared_ptr<const plan>> plans_;
    std::vector<std::vector<std::uint32_t>> places_;
    std::vector<std::vector<row>> rows_;
    std::vector<std::vector<std::uint32_t>>
        begins_;  // expanded layout: first rows of each rank's experts
    std::deque<rank_data> data_;
};

void check(const scenario& setup, const variant& variation) {
    INFO(text(setup) << ", type " << reduce::name(variation.type) << ", alignment "
                     << variation.alignment << ", gap " << variation.gap
                     << (variation.with_weights ? ", weights" : ""));
    trial one(setup, variation);
    for (unsigned round = 0; round < variation.rounds; ++round) {
        one.dispatch_all(round);
        if (variation.type != element::fp8_e4m3) one.combine_all(round);
    }
}

}  // namespace

TEST_CASE("moe: dispatch and combine in groups of 1 to 17 ranks", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        scenario setup = group_of(ranks, 1 + ranks % 4);
        setup.settings.routing = ranks % 2 == 0 ? route::relayed : route::direct;
        setup.disorder = true;
        variant variation{.with_weights = ranks % 3 == 0, .biases = ranks % 3};
        check(setup, variation);
    }
}

TEST_CASE("moe: dispatch and combine with any number of ranks on a node, any gate and both routes",
          "[moe]") {
    for (const rank_t per_node : {1U, 2U, 3U, 4U, 8U}) {
        for (const gate gate_kind :
             {gate::even, gate::skewed, gate::one_rank, gate::with_holes, gate::repeated}) {
            for (const route route_taken : {route::direct, route::relayed, route::choose}) {
                scenario setup;
                setup.ranks = 12;
                setup.ranks_per_node = per_node;
                setup.experts = 24;
                setup.k = 6;
                setup.tokens = 12;
                setup.gate_kind = gate_kind;
                setup.settings.routing = route_taken;
                setup.disorder = true;
                setup.seed = per_node + 10;
                variant variation;
                variation.with_weights = true;
                check(setup, variation);
            }
        }
    }
}

TEST_CASE("moe: nodes of different sizes, out of order, under random delays", "[moe]") {
    scenario setup = on_scattered_nodes({});
    for (setup.seed = 1; setup.seed <= 20; ++setup.seed) {
        variant variation;
        variation.alignment = setup.seed % 2 == 0 ? 4 : 0;
        check(setup, variation);
    }
}

TEST_CASE("moe: types, scales, strides and weights", "[moe]") {
    scenario setup{.ranks = 8, .ranks_per_node = 4, .k = 3, .hidden = 5, .disorder = true};
    for (const element type : {element::bf16, element::fp16, element::fp32, element::fp8_e4m3}) {
        for (const unsigned form : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
            variant variation;
            variation.type = type;
            variation.with_weights = (form & 1U) != 0;
            variation.gap = (form & 2U) != 0 ? 3 : 0;
            variation.alignment = (form & 4U) != 0 ? 8 : 0;
            if (type == element::fp8_e4m3) {
                variation.scale_count = 3;
                variation.columns = (form & 2U) != 0;
                variation.scale_type = (form & 1U) != 0 ? element::uint8 : element::fp32;
            }
            variation.biases = form % 3;
            check(setup, variation);
        }
    }
}

TEST_CASE("moe: outputs with surplus rows, and a plan that is used several times", "[moe]") {
    scenario setup{.ranks = 6, .ranks_per_node = 3, .experts = 12, .k = 4};
    variant variation{.with_weights = true, .spare = 7, .rounds = 2, .starts = 3};
    check(setup, variation);
    variation.alignment = 16;
    check(setup, variation);
}

TEST_CASE("moe: notify and dispatch in one operation", "[moe]") {
    scenario setup{.ranks = 6, .ranks_per_node = 3, .experts = 12, .k = 4};
    variant variation;
    variation.with_weights = true;
    for (const std::uint32_t alignment : {0U, 8U}) {
        variation.alignment = alignment;
        trial(setup, variation).dispatch_unseen();
    }
}

TEST_CASE("moe: rows of one rank are added up in the order of the choices", "[moe]") {
    scenario setup{.ranks = 4, .experts = 32, .k = 8, .gate_kind = gate::one_rank};
    variant variation;
    variation.type = element::fp32;  // fp32 sums differ for different orders
    variation.alignment = 4;
    variation.with_weights = true;
    check(setup, variation);
}

TEST_CASE("moe: masked ranks get nothing and are not waited for", "[moe]") {
    for (const scenario& setup : with_masks({}))
        check(setup, {});
}

namespace {

// The shape of DeepEP's own tests: two nodes with eight ranks each.
scenario deep_ep(std::uint32_t k) {
    scenario setup{.ranks = 16, .ranks_per_node = 8, .experts = 256, .k = k, .tokens = 4096};
    setup.hidden = 2;  // short rows, because the length only scales the copies
    setup.settings = {8, 32, route::choose, 14336, {}};
    return setup;
}

// Runs with a row for each token, and with the expanded layout.
void check_both(const scenario& setup, variant variation, std::uint32_t alignment = 128) {
    check(setup, variation);
    variation.alignment = alignment;
    check(setup, variation);
}

}  // namespace

TEST_CASE("moe: 4096 tokens, 256 experts, 8 choices on two nodes of eight", "[moe]") {
    scenario setup = deep_ep(8);
    setup.uneven = false;
    variant variation;
    variation.with_weights = true;
    check_both(setup, variation);
}

TEST_CASE("moe: 4096 tokens less the rank, 6 choices, by other gates", "[moe]") {
    scenario setup = deep_ep(6);
    for (const gate gate_kind : {gate::skewed, gate::with_holes}) {
        setup.gate_kind = gate_kind;
        check_both(setup, {});
    }
}

TEST_CASE("moe: 4096 tokens less the rank, 6 choices, some ranks masked", "[moe]") {
    scenario setup = deep_ep(6);
    setup.masked.assign(setup.ranks, 0);
    setup.masked[1] = setup.masked[11] = 1;
    check_both(setup, {});
}

TEST_CASE("moe: rows of 7168 elements, 256 experts, 8 choices", "[moe]") {
    scenario setup = deep_ep(8);
    setup.hidden = 7168;
    setup.tokens = 6;
    variant variation;
    variation.with_weights = true;
    check_both(setup, variation, 4);
    variation.type = element::fp8_e4m3;
    variation.scale_count = 56;
    check_both(setup, variation, 4);
}

// DeepEP's row length, with fewer ranks because the data takes gigabytes.
TEST_CASE("moe: 4096 tokens of 7168 elements, 256 experts, 8 choices", "[moe]") {
    if (!has_time()) return;
    for (const std::uint32_t k : {8U, 6U}) {
        scenario setup = deep_ep(k);
        setup.ranks = 2;
        setup.ranks_per_node = 1;
        setup.hidden = 7168;
        setup.uneven = k == 6;
        variant variation;
        variation.with_weights = true;
        check_both(setup, variation);
    }
}

// Two hops with rows of 7168 elements.
TEST_CASE("moe: 4096 tokens of 7168 elements on two nodes of two", "[moe]") {
    if (!has_time()) return;
    scenario setup = deep_ep(8);
    setup.ranks = 4;
    setup.ranks_per_node = 2;
    setup.hidden = 7168;
    setup.settings.routing = route::relayed;
    variant variation;
    variation.with_weights = true;
    check(setup, variation);
}

TEST_CASE("moe: one copy of a token is sent to each node", "[moe]") {
    scenario setup{.ranks = 16, .ranks_per_node = 4, .experts = 64, .k = 8, .hidden = 512};
    for (const route route_taken : {route::direct, route::relayed}) {
        setup.settings.routing = route_taken;
        trial one(setup, {});
        std::uint64_t copies = 0;
        for (rank_t rank = 0; rank < setup.ranks; ++rank) {
            for (std::uint32_t token = 0; token < one.all().tokens(rank); ++token) {
                for (rank_t node = 0; node < 4; ++node) {
                    if (node == rank / 4) continue;
                    std::uint64_t targets = 0;
                    for (rank_t to = node * 4; to < node * 4 + 4; ++to)
                        targets += one.all().goes(rank, token, to) ? 1U : 0U;
                    copies += route_taken == route::direct ? targets
                                                           : std::min<std::uint64_t>(targets, 1);
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
        CHECK(sent() - before == copies * setup.hidden * 2);
        const std::uint64_t between = sent();
        one.combine_all(0);
        CHECK(sent() - between == copies * setup.hidden * 2);
    }
}
