// Who shares a NUMA node, and what that level keeps from crossing between them.
#include "ucg/node/domains.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "test/unit/ucg/node/group.hpp"
#include "ucg/node/pattern.hpp"

using namespace ucg;
using node::domains;
using node::rank_t;
using schedule::collective;

namespace {

using numbers = std::vector<std::uint32_t>;

std::vector<rank_t> list(std::span<const rank_t> of) {
    return {of.begin(), of.end()};
}

}  // namespace

TEST_CASE("domains of ranks that alternate") {
    const numbers of_ranks{5, 2, 5, 2, 2};
    const domains made(of_ranks, 3);
    CHECK(made.count() == 2);
    CHECK(made.several());
    CHECK_FALSE(made.in_order());
    CHECK(made.mine() == 1);
    CHECK(made.fewest() == 2);
    CHECK(list(made.in(0)) == std::vector<rank_t>{0, 2});
    CHECK(list(made.in(1)) == std::vector<rank_t>{1, 3, 4});
    CHECK(made.index(4) == 2);
    CHECK(list(made.others()) == std::vector<rank_t>{4, 0, 1, 2});
    CHECK(list(made.near()) == std::vector<rank_t>{4, 1});
    for (rank_t rank = 0; rank < 5; ++rank)
        CHECK(made.helper(made.of(rank), rank) == rank);
    CHECK(made.helper(0, 4) == 0);  // round about
    CHECK(made.helper(1, 2) == 3);
}

// The example of docs/node-engine.md.
TEST_CASE("domains of different sizes share what there is to do") {
    const numbers of_ranks{0, 1, 0, 0, 1, 1, 1};
    const domains made(of_ranks, 0);
    REQUIRE(made.count() == 2);
    CHECK(made.fewest() == 3);
    // The owners of a share have the same index.
    const std::vector<std::pair<rank_t, rank_t>> owners{{0, 1}, {2, 4}, {3, 5}};
    for (rank_t share = 0; share < 3; ++share) {
        CHECK(made.in(0)[share] == owners[share].first);
        CHECK(made.in(1)[share] == owners[share].second);
    }
    CHECK(made.index(6) == made.fewest());  // owns none
    const std::vector<std::vector<rank_t>> helped{{1, 6}, {0}, {4}, {5}, {2}, {3}, {}};
    for (rank_t helper = 0; helper < 7; ++helper) {
        std::vector<rank_t> found;
        for (rank_t rank = 0; rank < 7; ++rank)
            if (made.of(rank) != made.of(helper) && made.helper(made.of(helper), rank) == helper)
                found.push_back(rank);
        CHECK(found == helped[helper]);
    }
}

TEST_CASE("there is one domain where the level would not pay") {
    const std::uint32_t unknown = domains::unknown;
    for (const numbers& of_ranks :
         {numbers{1, 1, 1, 1}, numbers{0, 1}, numbers{0, 0, 0, 1}, numbers{0, 0, 1, 1, 1, 1, 1},
          numbers{0, 0, unknown, unknown}}) {
        const domains made(of_ranks, 1);
        CHECK(made.count() == 1);
        CHECK_FALSE(made.several());
        CHECK(made.in_order());
        CHECK(made.near().size() == of_ranks.size() - 1);
    }
    CHECK(domains(numbers{0, 0, 1, 1, 1, 1}, 0).several());
}

namespace {

// A rank reads nothing of those that it does not wait for.
std::set<rank_t> far_ranks(const node::flow& how, const domains& who) {
    std::set<rank_t> found;
    for (const std::span<const rank_t> stage : how.awaits)
        for (const rank_t rank : stage)
            if (who.of(rank) != who.mine()) found.insert(rank);
    return found;
}

}  // namespace

TEST_CASE("of each other domain a rank reads what one rank has, not what all have") {
    constexpr rank_t ranks = 12;
    const numbers of_ranks{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    const node::geometry like = test::small_node(ranks);
    node::tuning limits;
    limits.domain_bytes = 4000;
    const schedule::kernel_reducer how(reduce::element::fp32, reduce::operation::sum, ranks);
    const std::vector<std::uint64_t> counts(ranks, 500), places(ranks, 0);
    for (const auto what :
         {collective::bcast, collective::reduce, collective::allreduce, collective::allgather,
          collective::allgatherv, collective::reduce_scatter, collective::reduce_scatter_block}) {
        INFO(schedule::name(what));
        schedule::call asked;
        asked.what = what;
        asked.count =
            what == collective::allgather || what == collective::reduce_scatter_block ? 500 : 6000;
        asked.element = 4;
        asked.how = &how;
        asked.counts = counts.data();
        asked.places = places.data();
        if (what != collective::allgatherv && what != collective::reduce_scatter)
            asked.counts = nullptr;
        std::size_t most = 0;
        for (rank_t me = 0; me < ranks; ++me) {
            const domains who(of_ranks, me);
            const auto made = node::make_pattern(asked, who, like, limits, {});
            REQUIRE(made != nullptr);
            CHECK(made->how().bytes <= like.slot_bytes);
            most = std::max(most, far_ranks(made->how(), who).size());
            const domains flat(ranks, me);
            const domains& one = flat;
            CHECK(made->how().works >
                  node::make_pattern(asked, one, like, limits, {})->how().works);
        }
        // Of eight ranks of allgather it fetches two; the root's segment is fetched from it.
        CHECK(most == (what == collective::bcast ? 1 : 2));
    }
    // Sums of a type that overflows early are not stored before the last rank's value is in them.
    const schedule::kernel_reducer half(reduce::element::fp16, reduce::operation::sum, ranks);
    schedule::call narrow;
    narrow.what = collective::allreduce;
    narrow.element = 2;
    narrow.count = 6000;
    narrow.how = &half;
    const domains first(of_ranks, 0);
    CHECK(node::make_pattern(narrow, first, like, limits, {})->how().works == 1);
    // Short vectors, and operators that are applied in another order than that of the ranks.
    schedule::call asked;
    asked.what = collective::allreduce;
    asked.element = 4;
    asked.count = 999;
    asked.how = &how;
    const domains who(of_ranks, 0);
    CHECK(node::make_pattern(asked, who, like, limits, {})->how().works < 2);
    const schedule::user_reducer ordered([](const void*, void*, std::size_t, void*) {}, nullptr, 4,
                                         false);
    asked.count = 6000;
    asked.how = &ordered;
    CHECK(node::make_pattern(asked, who, like, limits, {})->how().works == 2);
    const numbers mixed{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    const domains others(mixed, 0);
    CHECK(node::make_pattern(asked, others, like, limits, {})->how().works == 1);
}
