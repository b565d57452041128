// Division of ranks into NUMA domains, and how little crosses between domains.
#include "ucg/node/patterns/numa_domains.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "test/unit/ucg/node/group.hpp"
#include "ucg/node/patterns/pattern.hpp"

using namespace ucg;
using namespace node;
using schedule::collective;

namespace {

using numbers = std::vector<std::uint32_t>;

std::vector<rank_t> list(std::span<const rank_t> ranks) {
    return {ranks.begin(), ranks.end()};
}

}  // namespace

TEST_CASE("numa domains: ranks alternate between two domains") {
    const numbers domain_numbers{5, 2, 5, 2, 2};
    const numa_domains made(domain_numbers, 3);
    CHECK(made.count() == 2);
    CHECK(made.has_several());
    CHECK_FALSE(made.is_in_order());
    CHECK(made.own() == 1);
    CHECK(made.smallest() == 2);
    CHECK(list(made.ranks_in(0)) == std::vector<rank_t>{0, 2});
    CHECK(list(made.ranks_in(1)) == std::vector<rank_t>{1, 3, 4});
    CHECK(made.index(4) == 2);
    CHECK(list(made.peers()) == std::vector<rank_t>{4, 0, 1, 2});
    CHECK(list(made.own_peers()) == std::vector<rank_t>{4, 1});
    for (rank_t rank = 0; rank < 5; ++rank)
        CHECK(made.helper(made.domain_of(rank), rank) == rank);
    CHECK(made.helper(0, 4) == 0);  // wraps around
    CHECK(made.helper(1, 2) == 3);
}

// The example of docs/node-engine.md.
TEST_CASE("numa domains: domains of different sizes share the work") {
    const numbers domain_numbers{0, 1, 0, 0, 1, 1, 1};
    const numa_domains made(domain_numbers, 0);
    REQUIRE(made.count() == 2);
    CHECK(made.smallest() == 3);
    // The owners of the same share have the same index.
    const std::vector<std::pair<rank_t, rank_t>> owners{{0, 1}, {2, 4}, {3, 5}};
    for (rank_t share = 0; share < 3; ++share) {
        CHECK(made.ranks_in(0)[share] == owners[share].first);
        CHECK(made.ranks_in(1)[share] == owners[share].second);
    }
    CHECK(made.index(6) == made.smallest());  // owns no share
    const std::vector<std::vector<rank_t>> helped{{1, 6}, {0}, {4}, {5}, {2}, {3}, {}};
    for (rank_t helper = 0; helper < 7; ++helper) {
        std::vector<rank_t> found;
        for (rank_t rank = 0; rank < 7; ++rank)
            if (made.domain_of(rank) != made.domain_of(helper) &&
                made.helper(made.domain_of(helper), rank) == helper)
                found.push_back(rank);
        CHECK(found == helped[helper]);
    }
}

TEST_CASE("numa domains: there is one domain if a level is not worthwhile") {
    const std::uint32_t unknown = numa_domains::unknown;
    for (const numbers& domain_numbers :
         {numbers{1, 1, 1, 1}, numbers{0, 1}, numbers{0, 0, 0, 1}, numbers{0, 0, 1, 1, 1, 1, 1},
          numbers{0, 0, unknown, unknown}}) {
        const numa_domains made(domain_numbers, 1);
        CHECK(made.count() == 1);
        CHECK_FALSE(made.has_several());
        CHECK(made.is_in_order());
        CHECK(made.own_peers().size() == domain_numbers.size() - 1);
    }
    CHECK(numa_domains(numbers{0, 0, 1, 1, 1, 1}, 0).has_several());
}

namespace {

// The ranks of other domains that a rank waits for. A rank reads only from ranks that it waits for.
std::set<rank_t> far_ranks(const node::stage_plan& plan, const numa_domains& domains) {
    std::set<rank_t> found;
    for (const std::span<const rank_t> stage : plan.awaits)
        for (const rank_t rank : stage)
            if (domains.domain_of(rank) != domains.own()) found.insert(rank);
    return found;
}

}  // namespace

TEST_CASE("numa domains: a rank reads from one rank of each other domain") {
    constexpr rank_t ranks = 12;
    const numbers domain_numbers{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    const node::geometry layout = test::small_node(ranks);
    node::pattern_memory memory(ranks);
    node::tuning params;
    params.domain_bytes = 4000;
    const schedule::kernel_reducer reducer(reduce::element::fp32, reduce::operation::sum, ranks);
    const std::vector<std::uint64_t> counts(ranks, 500), offsets(ranks, 0);
    for (const auto type :
         {collective::bcast, collective::reduce, collective::allreduce, collective::allgather,
          collective::allgatherv, collective::reduce_scatter, collective::reduce_scatter_block}) {
        INFO(schedule::name(type));
        schedule::call args;
        args.kind = type;
        args.count =
            type == collective::allgather || type == collective::reduce_scatter_block ? 500 : 6000;
        args.element = 4;
        args.op = &reducer;
        args.counts = counts.data();
        args.offsets = offsets.data();
        if (type != collective::allgatherv && type != collective::reduce_scatter)
            args.counts = nullptr;
        std::size_t most = 0;
        for (rank_t me = 0; me < ranks; ++me) {
            const numa_domains domains(domain_numbers, me);
            const node::pattern* const made = memory.make(args, domains, layout, params, {});
            REQUIRE(made != nullptr);
            CHECK(made->plan().bytes <= layout.slot_bytes);
            most = std::max(most, far_ranks(made->plan(), domains).size());
            const numa_domains flat(ranks, me);
            const unsigned stages = made->plan().work_stages;
            CHECK(stages > memory.make(args, flat, layout, params, {})->plan().work_stages);
        }
        // In allgather, a rank fetches the data of two of eight ranks. In bcast, it fetches the
        // segment from the root.
        CHECK(most == (type == collective::bcast ? 1 : 2));
    }
    // Sums of a type that overflows early are not stored before the last rank's value is added.
    const schedule::kernel_reducer half(reduce::element::fp16, reduce::operation::sum, ranks);
    schedule::call narrow{.kind = collective::allreduce, .count = 6000, .element = 2, .op = &half};
    const numa_domains first(domain_numbers, 0);
    CHECK(memory.make(narrow, first, layout, params, {})->plan().work_stages == 1);
    // Short vectors, and operators that would be applied in another order than that of the ranks,
    // get no level for domains.
    schedule::call args{.kind = collective::allreduce, .count = 999, .element = 4, .op = &reducer};
    const numa_domains domains(domain_numbers, 0);
    CHECK(memory.make(args, domains, layout, params, {})->plan().work_stages < 2);
    const schedule::user_reducer ordered([](const void*, void*, std::size_t, void*) {}, nullptr, 4,
                                         false);
    args.count = 6000;
    args.op = &ordered;
    CHECK(memory.make(args, domains, layout, params, {})->plan().work_stages == 2);
    const numbers mixed{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    const numa_domains others(mixed, 0);
    CHECK(memory.make(args, others, layout, params, {})->plan().work_stages == 1);
}
