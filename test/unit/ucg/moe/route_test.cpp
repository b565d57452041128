// Tests which route is chosen, and that it is the faster one if the difference is large.
#include <catch2/catch.hpp>
#include <deque>

#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/normal/dispatch.hpp"
#include "ucg/moe/settings.hpp"

using namespace test::moe;
using namespace ucg::moe;

namespace {

scenario wide(gate kind, route route) {
    scenario setup;
    setup.ranks = 16;
    setup.ranks_per_node = 8;
    setup.experts = 32;
    setup.k = 8;
    setup.hidden = 2048;
    setup.tokens = 32;
    setup.uneven = false;
    setup.gate_kind = kind;
    setup.settings = {4, 4, route, 4096, {}};
    return setup;
}

// Returns the virtual time of a dispatch in picoseconds.
ucg::sim::time_t time_of(world& all,
                         const std::vector<std::shared_ptr<const ucg::moe::plan>>& plans) {
    std::deque<own_matrix> memory;
    const on_all<dispatch> each(all, [&](dispatch& one, rank_t rank) {
        ucg::moe::dispatch_tensors tensors;
        tensors.from[values] =
            memory.emplace_back(all.tokens(rank), all.setup().hidden, reduce::element::bf16).view();
        tensors.into.into[values] =
            memory
                .emplace_back(plans[rank]->receives.rows, all.setup().hidden, reduce::element::bf16)
                .view();
        return one.init(plans[rank], tensors);
    });
    all.net().align();
    const ucg::sim::time_t begin = all.net().fabric(0).clock();
    all.run_well(each.programs);
    ucg::sim::time_t end = begin;
    for (rank_t rank = 0; rank < all.setup().ranks; ++rank)
        end = std::max(end, all.net().fabric(rank).clock());
    return end - begin;
}

ucg::sim::time_t time_of(gate kind, route route) {
    world all(wide(kind, route));
    return time_of(all, all.plans());
}

}  // namespace

TEST_CASE("moe: a relay is predicted to be faster if it saves copies on the network", "[moe]") {
    traffic to{4096, 4096, 1, 8, 8, 14336};
    CHECK(direct_time(to, {}) < relayed_time(to, {}));
    to.copies = 4 * to.tokens;
    to.targets = 8;
    CHECK(relayed_time(to, {}) < direct_time(to, {}));
    ucg::moe::link_costs slow_node;
    slow_node.within_node.per_byte = 1e-8;
    CHECK(direct_time(to, slow_node) < relayed_time(to, slow_node));
}

TEST_CASE("moe: each rank chooses a route for each node and notifies the other ranks", "[moe]") {
    for (const gate kind : {gate::even, gate::one_rank}) {
        world all(wide(kind, route::choose));
        const auto plans = all.plans();
        for (rank_t rank = 0; rank < 16; ++rank) {
            const rank_t other = 1 - rank / 8;
            const bool relayed = kind == gate::even;
            CHECK(plans[rank]->sends.relayed[rank / 8] == 0);
            // gate::one_rank: all chosen experts belong to rank 8 on node 1.
            CHECK((plans[rank]->sends.relayed[other] != 0) == relayed);
            for (const auto& stream : plans[rank]->relays.streams)
                CHECK(stream.relayed == (relayed && stream.source / 8 == other));
        }
    }
}

TEST_CASE("moe: the route that is chosen is the faster one", "[moe]") {
    const auto direct = time_of(gate::even, route::direct);
    const auto relayed = time_of(gate::even, route::relayed);
    CHECK(relayed < direct);
    CHECK(time_of(gate::even, route::choose) == relayed);
    CHECK(time_of(gate::one_rank, route::choose) == time_of(gate::one_rank, route::direct));
    CHECK(time_of(gate::one_rank, route::direct) < time_of(gate::one_rank, route::relayed));
}
