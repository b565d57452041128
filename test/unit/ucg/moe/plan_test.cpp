// Which token goes where, and every count and place that follows, against plain loops.
#include <catch2/catch.hpp>

#include "test/support/sanitizer.hpp"
#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/layout.hpp"

using namespace test::moe;
using ucg::moe::arriving;
using ucg::moe::nobody;
using ucg::moe::plan;
using ucg::moe::route;
using ucg::moe::team;

namespace {

void check_arriving(const world& all, rank_t rank, const plan& made) {
    const std::vector<row> rows = all.gates().rows_of(rank);
    const std::uint32_t channels = all.of().by.channels;
    REQUIRE(made.in.rows == rows.size());
    std::vector<std::uint32_t> per_expert(all.of().experts / all.of().ranks);
    std::vector<std::uint32_t> counts(std::size_t{all.of().ranks} * channels);
    bool same = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        same = same && made.in.origins[i].source == rows[i].source &&
               made.in.origins[i].token == rows[i].token;
        ++counts[std::size_t{rows[i].source} * channels +
                 all.channel_of(rows[i].source, rows[i].token)];
        for (std::uint32_t j = 0; j < all.of().k; ++j) {
            const expert_t expert = all.choice(rows[i].source, rows[i].token, j);
            const bool here = expert >= 0 && all.rank_of(expert) == rank;
            const auto local =
                here ? static_cast<expert_t>(static_cast<std::size_t>(expert) % per_expert.size())
                     : expert_t{-1};
            same = same && made.in.chosen[i * all.of().k + j] == local;
            if (here) ++per_expert[static_cast<std::size_t>(local)];
        }
    }
    CHECK(same);
    CHECK(made.in.per_expert == per_expert);
    CHECK(made.in.counts == counts);
    std::uint32_t begin = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        same = same && made.in.begins[i] == begin;
        begin += counts[i];
    }
    CHECK(same);
}

void check_passing(const world& all, rank_t rank, const plan& made) {
    const std::uint32_t channels = all.of().by.channels;
    const rank_t node = all.where().node_of(rank);
    std::size_t stream = 0;
    for (rank_t source = 0; source < all.of().ranks; ++source) {
        if (!all.lives(source) || all.relay_of(source, node) != rank) continue;
        REQUIRE(stream < made.through.streams.size());
        CHECK(made.through.streams[stream].source == source);
        std::vector<std::uint32_t> to_node(channels);
        bool same = true;
        std::vector<std::uint32_t> seen(all.of().ranks * channels);
        for (std::uint32_t token = 0; token < all.tokens(source); ++token) {
            const std::uint32_t c = all.channel_of(source, token);
            bool any = false;
            rank_t index = 0;
            for (const rank_t to : all.where().on(node)) {
                if (!all.lives(to)) continue;
                if (all.goes(source, token, to)) {
                    const auto list =
                        made.through.forwards.of(made.through.forward(*made.of, stream, index), c);
                    const std::uint32_t at = seen[to * channels + c]++;
                    same = same && at < list.size() && list[at] == to_node[c];
                    any = true;
                }
                ++index;
            }
            if (any) ++to_node[c];
        }
        CHECK(same);
        for (std::uint32_t c = 0; c < channels; ++c)
            CHECK(made.through.counts[stream * channels + c] == to_node[c]);
        ++stream;
    }
    CHECK(stream == made.through.streams.size());
}

void check_outgoing(const world& all, rank_t rank, const plan& made) {
    const std::uint32_t channels = all.of().by.channels;
    std::vector<std::uint32_t> to_rank(std::size_t{all.of().ranks} * channels);
    std::vector<std::uint32_t> to_node(std::size_t{all.where().nodes()} * channels);
    for (std::uint32_t token = 0; token < all.tokens(rank); ++token) {
        const std::uint32_t c = all.channel_of(rank, token);
        for (rank_t node = 0; node < all.where().nodes(); ++node) {
            bool any = false;
            for (const rank_t to : all.where().on(node)) {
                if (!all.goes(rank, token, to)) continue;
                ++to_rank[std::size_t{to} * channels + c];
                any = true;
            }
            if (any) ++to_node[std::size_t{node} * channels + c];
        }
    }
    CHECK(made.out.to_rank == to_rank);
    CHECK(made.out.to_node == to_node);
}

void check_layout(const world& all, rank_t rank, const plan& made) {
    const ucg::moe::layout of = ucg::moe::layout_of(*all.team(rank), made.chosen);
    std::vector<std::int32_t> per_expert(all.of().experts), per_rank(all.of().ranks),
        per_node(all.where().nodes());
    bool same = true;
    for (std::uint32_t token = 0; token < all.tokens(rank); ++token) {
        for (std::uint32_t j = 0; j < all.of().k; ++j) {
            const expert_t expert = all.choice(rank, token, j);
            if (expert >= 0 && all.lives(all.rank_of(expert)))
                ++per_expert[static_cast<std::size_t>(expert)];
        }
        for (rank_t node = 0; node < all.where().nodes(); ++node) {
            bool any = false;
            for (const rank_t to : all.where().on(node)) {
                const bool goes = all.goes(rank, token, to);
                same =
                    same && of.in_rank[std::size_t{token} * all.of().ranks + to] == (goes ? 1 : 0);
                per_rank[to] += goes ? 1 : 0;
                any = any || goes;
            }
            per_node[node] += any ? 1 : 0;
        }
    }
    CHECK(same);
    CHECK(of.per_expert == per_expert);
    CHECK(of.per_rank == per_rank);
    CHECK(of.per_node == per_node);
}

void check_plans(const scenario& of) {
    INFO(text(of));
    world all(of);
    const auto plans = all.plans();
    for (rank_t rank = 0; rank < of.ranks; ++rank) {
        if (!all.lives(rank)) continue;
        INFO("rank " << rank);
        check_arriving(all, rank, *plans[rank]);
        check_passing(all, rank, *plans[rank]);
        check_outgoing(all, rank, *plans[rank]);
        check_layout(all, rank, *plans[rank]);
    }
}

}  // namespace

TEST_CASE("moe: plans of groups of 1 to 17 ranks", "[moe]") {
    for (rank_t ranks = 1; ranks <= 17; ++ranks) {
        scenario of;
        of.ranks = ranks;
        of.ranks_per_node = 1 + ranks % 4;
        of.experts = ranks * (1 + ranks % 3);
        of.k = std::min(of.experts, 1 + ranks % 5);
        of.seed = ranks;
        of.how = static_cast<gate>(ranks % 5);
        check_plans(of);
    }
}

TEST_CASE("moe: plans of any number of ranks on a node", "[moe]") {
    for (const rank_t per_node : {1U, 2U, 3U, 4U, 8U}) {
        for (const gate how : {gate::even, gate::skewed, gate::one_rank, gate::with_holes}) {
            scenario of;
            of.ranks = 16;
            of.ranks_per_node = per_node;
            of.experts = 64;
            of.k = 8;
            of.how = how;
            of.disorder = true;
            of.seed = per_node;
            check_plans(of);
        }
    }
}

TEST_CASE("moe: plans of nodes of different sizes, out of order", "[moe]") {
    scenario of = on_scattered_nodes({});
    for (of.seed = 1; of.seed <= 5; ++of.seed)
        check_plans(of);
}

TEST_CASE("moe: plans where ranks are masked", "[moe]") {
    for (const scenario& of : with_masks({}))
        check_plans(of);
}

TEST_CASE("moe: plans of 2048 ranks", "[moe]") {
    scenario of;
    of.ranks = test::instrumented ? 256 : 2048;
    of.ranks_per_node = 8;
    of.experts = 2 * of.ranks;
    of.k = 4;
    of.tokens = 2;
    of.by.channels = 1;
    world all(of);
    const auto plans = all.plans();
    for (rank_t rank = 0; rank < of.ranks; rank += of.ranks / 4 - 3) {
        check_arriving(all, rank, *plans[rank]);
        check_passing(all, rank, *plans[rank]);
        check_outgoing(all, rank, *plans[rank]);
    }
}
