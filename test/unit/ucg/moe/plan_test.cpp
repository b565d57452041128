// Compares the targets of tokens and all counts and offsets of a plan with plain loops.

#include "test/unit/ucg/moe/world.hpp"

using namespace test::moe;
using namespace ucg::moe;

namespace {

void check_receive_plan(const world& all, rank_t rank, const plan& made) {
    const std::vector<row> rows = all.gates().rows_of(rank);
    const std::uint32_t channels = all.setup().settings.channels;
    REQUIRE(made.receives.rows == rows.size());
    std::vector<std::uint32_t> per_expert(all.setup().experts / all.setup().ranks);
    std::vector<std::uint32_t> counts(std::size_t{all.setup().ranks} * channels);
    bool same = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        same = same && made.receives.origins[i].source == rows[i].source &&
               made.receives.origins[i].token == rows[i].token;
        ++counts[std::size_t{rows[i].source} * channels +
                 all.channel_of(rows[i].source, rows[i].token)];
        for (std::uint32_t j = 0; j < all.setup().k; ++j) {
            const std::int64_t expert = all.gates().choice_at(rank, rows[i], j);
            same = same && made.receives.chosen[i * all.setup().k + j] == expert;
            if (expert >= 0) ++per_expert[static_cast<std::size_t>(expert)];
        }
    }
    CHECK(same);
    CHECK(made.receives.per_expert == per_expert);
    CHECK(made.receives.counts == counts);
    std::uint32_t begin = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        same = same && made.receives.begins[i] == begin;
        begin += counts[i];
    }
    CHECK(same);
}

void check_relay_plan(const world& all, rank_t rank, const plan& made) {
    const std::uint32_t channels = all.setup().settings.channels;
    const rank_t node = all.node_placement().node_of(rank);
    std::size_t stream = 0;
    for (rank_t source = 0; source < all.setup().ranks; ++source) {
        if (!all.lives(source) || all.relay_of(source, node) != rank) continue;
        REQUIRE(stream < made.relays.streams.size());
        CHECK(made.relays.streams[stream].source == source);
        std::vector<std::uint32_t> to_node(channels);
        bool same = true;
        std::vector<std::uint32_t> seen(all.setup().ranks * channels);
        for (std::uint32_t token = 0; token < all.tokens(source); ++token) {
            const std::uint32_t c = all.channel_of(source, token);
            bool any = false;
            rank_t index = 0;
            for (const rank_t to : all.node_placement().ranks_on(node)) {
                if (!all.lives(to)) continue;
                if (all.goes(source, token, to)) {
                    const auto list = made.relays.forwards.list(
                        made.relays.forward(*made.group, stream, index), c);
                    const std::uint32_t position = seen[to * channels + c]++;
                    same = same && position < list.size() && list[position] == to_node[c];
                    any = true;
                }
                ++index;
            }
            if (any) ++to_node[c];
        }
        CHECK(same);
        for (std::uint32_t c = 0; c < channels; ++c)
            CHECK(made.relays.counts[stream * channels + c] == to_node[c]);
        ++stream;
    }
    CHECK(stream == made.relays.streams.size());
}

void check_send_plan(const world& all, rank_t rank, const plan& made) {
    const std::uint32_t channels = all.setup().settings.channels;
    std::vector<std::uint32_t> to_rank(std::size_t{all.setup().ranks} * channels);
    std::vector<std::uint32_t> to_node(std::size_t{all.node_placement().nodes()} * channels);
    for (std::uint32_t token = 0; token < all.tokens(rank); ++token) {
        const std::uint32_t c = all.channel_of(rank, token);
        for (rank_t node = 0; node < all.node_placement().nodes(); ++node) {
            bool any = false;
            for (const rank_t to : all.node_placement().ranks_on(node)) {
                if (!all.goes(rank, token, to)) continue;
                ++to_rank[std::size_t{to} * channels + c];
                any = true;
            }
            if (any) ++to_node[std::size_t{node} * channels + c];
        }
    }
    CHECK(made.sends.to_rank == to_rank);
    CHECK(made.sends.to_node == to_node);
}

void check_layout(const world& all, rank_t rank, const plan& made) {
    const ucg::moe::layout layout = ucg::moe::layout_of(*all.team(rank), made.chosen);
    std::vector<std::int32_t> per_expert(all.setup().experts), per_rank(all.setup().ranks),
        per_node(all.node_placement().nodes());
    bool same = true;
    for (std::uint32_t token = 0; token < all.tokens(rank); ++token) {
        for (std::uint32_t j = 0; j < all.setup().k; ++j) {
            const std::int64_t expert = all.gates().living_choice(rank, token, j);
            if (expert >= 0) ++per_expert[static_cast<std::size_t>(expert)];
        }
        for (rank_t node = 0; node < all.node_placement().nodes(); ++node) {
            bool any = false;
            for (const rank_t to : all.node_placement().ranks_on(node)) {
                const bool goes = all.goes(rank, token, to);
                same = same && layout.in_rank[std::size_t{token} * all.setup().ranks + to] ==
                                   (goes ? 1 : 0);
                per_rank[to] += goes ? 1 : 0;
                any = any || goes;
            }
            per_node[node] += any ? 1 : 0;
        }
    }
    CHECK(same);
    CHECK(layout.per_expert == per_expert);
    CHECK(layout.per_rank == per_rank);
    CHECK(layout.per_node == per_node);
}

void check_plans(const scenario& setup) {
    INFO(text(setup));
    world all(setup);
    const auto plans = all.plans();
    for (const rank_t rank : all.living()) {
        INFO("rank " << rank);
        check_receive_plan(all, rank, *plans[rank]);
        check_relay_plan(all, rank, *plans[rank]);
        check_send_plan(all, rank, *plans[rank]);
        check_layout(all, rank, *plans[rank]);
    }
}

}  // namespace

TEST_CASE("moe: plans of groups of 1 to 17 ranks", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        check_plans(group_of(ranks, 1 + ranks % 4));
    }
}

TEST_CASE("moe: plans of any number of ranks on a node", "[moe]") {
    for (const rank_t per_node : {1U, 2U, 3U, 4U, 8U}) {
        for (const gate kind : {gate::even, gate::skewed, gate::one_rank, gate::with_holes}) {
            scenario setup;
            setup.ranks = 16;
            setup.ranks_per_node = per_node;
            setup.experts = 64;
            setup.k = 8;
            setup.gate_kind = kind;
            setup.disorder = true;
            setup.seed = per_node;
            check_plans(setup);
        }
    }
}

TEST_CASE("moe: plans of nodes of different sizes, out of order", "[moe]") {
    scenario setup = on_scattered_nodes({});
    for (setup.seed = 1; setup.seed <= 5; ++setup.seed)
        check_plans(setup);
}

TEST_CASE("moe: plans where ranks are masked", "[moe]") {
    for (const scenario& setup : with_masks({}))
        check_plans(setup);
}

TEST_CASE("moe: plans of 2048 ranks", "[moe]") {
    scenario setup{.ranks = test::instrumented ? 256 : 2048, .ranks_per_node = 8};
    setup.experts = 2 * setup.ranks;
    setup.k = 4;
    setup.tokens = 2;
    setup.settings.channels = 1;
    world all(setup);
    const auto plans = all.plans();
    for (rank_t rank = 0; rank < setup.ranks; rank += setup.ranks / 4 - 3) {
        check_receive_plan(all, rank, *plans[rank]);
        check_relay_plan(all, rank, *plans[rank]);
        check_send_plan(all, rank, *plans[rank]);
    }
}
