// Compares the matrices of the example in docs/moe.md with the computed ones.
#include "ucg/moe/plan/matrices.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <sstream>

#include "test/unit/ucg/moe/world.hpp"

using namespace test::moe;

namespace {

// Two nodes with two ranks each, eight experts, four tokens on each rank with two choices.
constexpr std::array<std::array<std::int32_t, 8>, 4> example = {{
    {0, 4, 5, 7, 2, 3, -1, 6},
    {1, 2, 4, 6, 6, 7, 0, 3},
    {0, 1, 5, 4, -1, -1, 3, 7},
    {2, 6, 7, 0, 4, 1, 3, 2},
}};

std::string lines(const std::vector<std::int32_t>& all, std::size_t columns) {
    std::string made;
    for (std::size_t i = 0; i < all.size(); ++i)
        made += fmt::format("{}{}", i == 0 ? "" : i % columns == 0 ? " / " : " ", all[i]);
    return made;
}

template<class T>
std::vector<std::int32_t> numbers(const std::vector<T>& from) {
    return {from.begin(), from.end()};
}

// Returns one line for each matrix, in the format of the page.
std::vector<std::string> lines_of(rank_t rank, const ucg::moe::plan& plan) {
    const ucg::moe::layout local = ucg::moe::layout_of(*plan.group, plan.chosen);
    const auto line = [&](const char* name, const std::vector<std::int32_t>& values,
                          std::size_t columns) {
        return fmt::format("{} {:<19} {}", rank, name, lines(values, columns));
    };
    std::vector<std::int32_t> origins;
    for (const auto& each : plan.receives.origins) {
        origins.push_back(static_cast<std::int32_t>(each.source));
        origins.push_back(static_cast<std::int32_t>(each.token));
    }
    return {line("per_rank", local.per_rank, 4),
            line("per_node", local.per_node, 2),
            line("per_expert", local.per_expert, 8),
            line("in_rank", numbers(local.in_rank), 4),
            line("sent_to_node", ucg::moe::sent_to_node(plan), 2),
            line("sent_to_rank", ucg::moe::sent_to_rank(plan), 2),
            line("relayed", ucg::moe::relayed(plan), 2),
            line("relayed_by_channel", ucg::moe::relayed_by_channel(plan), 2),
            line("received", ucg::moe::received(plan), 4),
            line("received_begin", ucg::moe::received_begin(plan), 2),
            line("send_place", ucg::moe::send_place(plan), 2),
            line("relay_place", ucg::moe::relay_place(plan), 2),
            line("rank_place", ucg::moe::rank_place(plan), 4),
            line("received_before", ucg::moe::received_before(plan), 2),
            line("received_by_all", ucg::moe::received_by_all(plan), 4),
            line("source_token", ucg::moe::source_token(plan), plan.receives.rows),
            line("source_node", ucg::moe::source_node(plan), plan.receives.rows),
            line("holders", ucg::moe::holders(plan), 2),
            line("origins", origins, 2),
            line("chosen", numbers(plan.receives.chosen), 2),
            line("per_expert_received", ucg::moe::per_expert(plan), 2)};
}

std::vector<std::shared_ptr<const ucg::moe::plan>> plans_of_example(world& all) {
    on_all<ucg::moe::notify> routing(all, [&](ucg::moe::notify& one, rank_t rank) {
        const const_matrix topk = ucg::moe::dense_matrix(
            reinterpret_cast<const std::byte*>(example[rank].data()), 4, 2, reduce::element::int32);
        return one.init(all.team(rank), topk, all.setup().settings);
    });
    all.run_well(routing.programs);
    std::vector<std::shared_ptr<const ucg::moe::plan>> made;
    for (ucg::moe::notify& one : routing.each)
        made.push_back(one.take());
    return made;
}

}  // namespace

TEST_CASE("moe: the matrices of the manual's example are the computed ones", "[moe]") {
    std::ifstream page(MOE_PAGE);
    std::stringstream text;
    text << page.rdbuf();
    REQUIRE(text.str().size() > 1000);
    scenario setup;
    setup.settings.channels = 2;
    setup.settings.all_counts = setup.settings.holders = true;
    world all(setup);
    const auto plans = plans_of_example(all);
    for (rank_t rank = 0; rank < 4; ++rank) {
        const std::vector<std::int32_t> chosen(example[rank].begin(), example[rank].end());
        std::vector<std::string> wanted = {
            fmt::format("{} topk                {}", rank, lines(chosen, 2))};
        for (std::string& each : lines_of(rank, *plans[rank]))
            wanted.push_back(std::move(each));
        for (const std::string& each : wanted) {
            INFO("the page should say: " << each);
            CHECK(text.str().find("\n" + each + "\n") != std::string::npos);
        }
    }
}

TEST_CASE("moe: the maximum number of rows", "[moe]") {
    const auto made = ucg::moe::team::make(placement(4), 0, 8);
    REQUIRE(made.ok());
    CHECK(ucg::moe::max_rows(*made, 2, 100) == 400);
    CHECK(ucg::moe::max_rows(*made, 2, 100, 1) == 800);
    CHECK(ucg::moe::max_rows(*made, 2, 100, 16) == 832);  // 800 and 15 for each of two experts
}
