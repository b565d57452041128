// Compares every matrix of a plan with plain loops over the choices of all ranks. The loops share
// no code with the plan.
#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/plan/matrices.hpp"

using namespace test::moe;
using namespace ucg::moe;

namespace {

// A table with access by row and column.
struct grid {
    std::size_t columns;
    table all;

    grid(std::size_t rows, std::size_t of_row, std::int32_t value = 0)
        : columns(of_row), all(rows * of_row, value) {}
    std::int32_t& at(std::size_t row, std::size_t column) { return all[row * columns + column]; }
    // Adds to each row the rows before it.
    void add_up_rows() {
        for (std::size_t i = columns; i < all.size(); ++i)
            all[i] += all[i - columns];
    }
    // Adds to each column the columns before it.
    void add_up_columns() {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (i % columns != 0) all[i] += all[i - 1];
    }
};

bool goes_to_node(const world& all, rank_t source, std::uint32_t token, rank_t node) {
    for (const rank_t to : all.living_on(node))
        if (all.goes(source, token, to)) return true;
    return false;
}

// Calls found(source, token, channel) for every token of all ranks.
template<class Found>
void for_each_token(const world& all, Found found) {
    for (rank_t source = 0; source < all.setup().ranks; ++source)
        for (std::uint32_t token = 0; token < all.tokens(source); ++token)
            found(source, token, all.channel_of(source, token));
}

void check_sent(const world& all, rank_t rank, const plan& made) {
    const rank_t nodes = all.node_placement().nodes(), ranks = all.setup().ranks;
    const std::uint32_t channels = all.setup().settings.channels;
    grid to_node(nodes, channels), to_rank(ranks, channels);
    grid node_place(all.tokens(rank), nodes, -1), rank_place(all.tokens(rank), ranks, -1);
    for (std::uint32_t token = 0; token < all.tokens(rank); ++token) {
        const std::uint32_t c = all.channel_of(rank, token);
        for (rank_t node = 0; node < nodes; ++node)
            if (goes_to_node(all, rank, token, node))
                node_place.at(token, node) = to_node.at(node, c)++;
        for (rank_t to = 0; to < ranks; ++to)
            if (all.goes(rank, token, to)) rank_place.at(token, to) = to_rank.at(to, c)++;
    }
    to_node.add_up_columns();
    to_rank.add_up_columns();
    CHECK(ucg::moe::sent_to_node(made) == to_node.all);
    CHECK(ucg::moe::sent_to_rank(made) == to_rank.all);
    CHECK(ucg::moe::send_place(made) == node_place.all);
    CHECK(ucg::moe::rank_place(made) == rank_place.all);
}

void check_relayed(const world& all, rank_t rank, const plan& made) {
    const rank_t node = all.node_placement().node_of(rank);
    const std::vector<rank_t> local_ranks = all.living_on(node);
    const std::uint32_t channels = all.setup().settings.channels;
    grid by_channel(all.node_placement().nodes(), channels),
        by_node(all.node_placement().nodes(), 1);
    table places;
    std::vector<std::int32_t> next(local_ranks.size());
    std::uint64_t last = ~std::uint64_t{0};  // stream and channel of the last token
    for_each_token(all, [&](rank_t source, std::uint32_t token, std::uint32_t c) {
        if (!all.lives(source) || all.relay_of(source, node) != rank ||
            !goes_to_node(all, source, token, node))
            return;
        ++by_channel.at(all.node_placement().node_of(source), c);
        ++by_node.at(all.node_placement().node_of(source), 0);
        const std::uint64_t now = std::uint64_t{source} * channels + c;
        if (now != last) std::ranges::fill(next, 0);
        last = now;
        for (std::size_t i = 0; i < local_ranks.size(); ++i)
            places.push_back(all.goes(source, token, local_ranks[i]) ? next[i]++ : -1);
    });
    by_channel.add_up_columns();
    by_node.add_up_rows();
    CHECK(ucg::moe::relayed(made) == by_node.all);
    CHECK(ucg::moe::relayed_by_channel(made) == by_channel.all);
    CHECK(ucg::moe::relay_place(made) == places);
}

void check_received(const world& all, rank_t rank, const plan& made) {
    const rank_t ranks = all.setup().ranks;
    const std::uint32_t channels = all.setup().settings.channels;
    const std::vector<rank_t> local_ranks = all.living_on(all.node_placement().node_of(rank));
    grid counts(ranks, channels), sums(ranks, 1), begins(ranks, channels), before(ranks, channels);
    table tokens, nodes, holders, experts(all.gates().local());
    for_each_token(all, [&](rank_t source, std::uint32_t token, std::uint32_t c) {
        if (!all.goes(source, token, rank)) return;
        ++counts.at(source, c);
        ++sums.at(source, 0);
        tokens.push_back(static_cast<std::int32_t>(token));
        nodes.push_back(static_cast<std::int32_t>(all.node_placement().node_of(source)));
        for (const rank_t other : local_ranks)
            holders.push_back(all.goes(source, token, other) ? 1 : 0);
        for (std::uint32_t j = 0; j < all.setup().k; ++j) {
            const std::int64_t expert = all.gates().choice_at(rank, {source, token}, j);
            if (expert >= 0) ++experts[static_cast<std::size_t>(expert)];
        }
    });
    std::int32_t row = 0;
    for (rank_t source = 0; source < ranks; ++source) {
        const std::int32_t first = row;
        for (std::uint32_t c = 0; c < channels; ++c) {
            begins.at(source, c) = row;
            before.at(source, c) = row - first;
            row += counts.at(source, c);
        }
    }
    sums.add_up_rows();
    for (std::int32_t& each : experts)
        each = (each + 7) / 8 * 8;
    CHECK(ucg::moe::received(made) == sums.all);
    CHECK(ucg::moe::received_begin(made) == begins.all);
    CHECK(ucg::moe::received_before(made) == before.all);
    CHECK(ucg::moe::source_token(made) == tokens);
    CHECK(ucg::moe::source_node(made) == nodes);
    CHECK(ucg::moe::holders(made) == (all.setup().settings.holders ? holders : table{}));
    CHECK(ucg::moe::per_expert(made, 8) == experts);
    CHECK(ucg::moe::max_rows(*all.team(rank), all.setup().k, all.setup().tokens) >=
          made.receives.rows);
}

// Returns the expected matrix, which is the same on every rank.
table received_by_all(const world& all) {
    grid sums(all.setup().ranks, all.setup().ranks);
    for_each_token(all, [&](rank_t source, std::uint32_t token, std::uint32_t) {
        for (rank_t to = 0; to < all.setup().ranks; ++to)
            sums.at(source, to) += all.goes(source, token, to) ? 1 : 0;
    });
    sums.add_up_rows();
    return sums.all;
}

void check_every_matrix(const scenario& setup) {
    INFO(text(setup));
    world all(setup);
    const auto plans = all.plans();
    const table among = setup.settings.all_counts ? received_by_all(all) : table{};
    for (const rank_t rank : all.living()) {
        INFO("rank " << rank);
        check_sent(all, rank, *plans[rank]);
        check_relayed(all, rank, *plans[rank]);
        check_received(all, rank, *plans[rank]);
        CHECK(ucg::moe::received_by_all(*plans[rank]) == among);
    }
}

scenario asking() {
    scenario setup;
    setup.settings.all_counts = setup.settings.holders = true;
    return setup;
}

}  // namespace

TEST_CASE("moe: every matrix of groups of 1 to 13 ranks, by any route", "[moe]") {
    for (rank_t ranks = 1; ranks <= 13; ++ranks) {
        for (const rank_t per_node : {1U, 2U, 3U, 8U, 16U}) {
            scenario setup = asking();
            setup.ranks = ranks;
            setup.ranks_per_node = per_node;
            setup.experts = ranks * (1 + ranks % 3);
            setup.k = std::min(setup.experts, 1 + (ranks + per_node) % 5);
            setup.seed = ranks * 100 + per_node;
            setup.gate_kind = static_cast<gate>((ranks + per_node) % 5);
            setup.settings.routing = static_cast<ucg::moe::route>(ranks % 3);
            setup.settings.channels = 1 + (ranks * per_node) % 7;
            setup.tokens = (ranks + per_node) % 4 == 0 ? 3 : 20;  // also fewer tokens than channels
            check_every_matrix(setup);
        }
    }
}

TEST_CASE("moe: every matrix on nodes of different sizes, out of order", "[moe]") {
    scenario setup = on_scattered_nodes(asking());
    for (setup.seed = 1; setup.seed <= 5; ++setup.seed) {
        setup.gate_kind = static_cast<gate>(setup.seed % 5);
        check_every_matrix(setup);
    }
}

TEST_CASE("moe: every matrix where ranks are masked", "[moe]") {
    for (const scenario& setup : with_masks(asking()))
        check_every_matrix(setup);
}

TEST_CASE("moe: matrices that notify was not asked for are absent", "[moe]") {
    const auto bytes_of = [](bool all_counts, bool holders) {
        scenario setup{.ranks = 12, .ranks_per_node = 3, .experts = 24};
        setup.settings.all_counts = all_counts;
        setup.settings.holders = holders;
        check_every_matrix(setup);
        world all(setup);
        (void)all.plans();
        std::uint64_t sum = all.net().bytes_inside();
        for (rank_t node = 0; node < all.net().nodes(); ++node)
            sum += all.net().node_out(node).bytes;
        return sum;
    };
    const std::uint64_t plain = bytes_of(false, false);
    CHECK(bytes_of(false, true) == plain);
    // Each rank sends 12 more numbers to 3 other nodes, and each relay 12 for each of its 4 sources
    // to 2 other ranks.
    CHECK(bytes_of(true, false) == plain + 12 * 4 * 12 * (3 + 4 * 2));
}
