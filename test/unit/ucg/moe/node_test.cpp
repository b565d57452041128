// Dispatch and combine between threads, over the rings of one node.
#include <fmt/format.h>

#include "test/unit/ucg/moe/world.hpp"
#include "test/unit/ucg/node/group.hpp"
#include "ucg/moe/normal/combine.hpp"
#include "ucg/moe/normal/dispatch.hpp"
#include "ucg/node/rings/fabric.hpp"

using namespace test::moe;
using reduce::element;
using ucg::moe::values;

namespace {

constexpr std::uint32_t hidden = 3000;  // several rows are longer than a ring

// The value of all elements of a token: small numbers, whose sums are exact in bf16.
float value_of(rank_t source, std::uint32_t token) {
    return static_cast<float>(source * 16 + token % 16);
}

own_matrix filled(const world& all, rank_t rank) {
    own_matrix made(all.tokens(rank), hidden, element::bf16);
    for (std::uint32_t token = 0; token < all.tokens(rank); ++token)
        for (std::uint32_t i = 0; i < hidden; ++i)
            put_rounded(element::bf16, value_of(rank, token), made.view().row(token) + 2 * i);
    return made;
}

bool has(const own_matrix& all, std::uint64_t row, float value) {
    for (const std::uint32_t i : {0U, 1U, hidden / 2, hidden - 1})
        if (all.real(row, i) != value) return false;
    return true;
}

std::string run_rank(test::node_rank& me, const world& all) {
    ucg::node::fabric over(me.memory, me.lives, me.rank, me.early);
    ucg::schedule::frame_pool frames;
    const auto run = [&](ucg::schedule::program& tensors) {
        ucg::schedule::operation operation(over, frames);
        operation.init(tensors);
        operation.start();
        return over.wait(operation);
    };
    ucg::moe::notify routing;
    if (routing.init(all.team(me.rank), all.topk(me.rank), all.setup().settings) != UCS_OK)
        return "init";
    if (run(routing) != UCS_OK) return "notify";
    const std::shared_ptr<const ucg::moe::plan> plan = routing.take();

    const own_matrix x = filled(all, me.rank);
    own_matrix out(plan->receives.rows, hidden, element::bf16);
    ucg::moe::dispatch forth;
    ucg::moe::dispatch_tensors tensors;
    tensors.from[values] = x.view();
    tensors.into.into[values] = out.view();
    if (forth.init(plan, tensors) != UCS_OK || run(forth) != UCS_OK) return "dispatch";
    for (std::uint32_t row = 0; row < plan->receives.rows; ++row) {
        const auto [source, token] = plan->receives.origins[row];
        if (!has(out, row, value_of(source, token))) return fmt::format("row {} is wrong", row);
    }

    own_matrix sum(all.tokens(me.rank), hidden, element::bf16);
    ucg::moe::combine back;
    ucg::moe::combine_tensors again;
    again.from[values] = std::as_const(out).view();
    again.into[values] = sum.view();
    if (back.init(plan, again) != UCS_OK || run(back) != UCS_OK) return "combine";
    for (std::uint32_t token = 0; token < all.tokens(me.rank); ++token) {
        std::uint32_t holders = 0;
        for (rank_t rank = 0; rank < all.setup().ranks; ++rank)
            holders += all.goes(me.rank, token, rank) ? 1U : 0U;
        if (!has(sum, token, value_of(me.rank, token) * static_cast<float>(holders)))
            return fmt::format("token {} is wrong", token);
    }
    return {};
}

}  // namespace

TEST_CASE("moe: between threads over shared memory, with and without relays", "[moe]") {
    for (const auto route : {ucg::moe::route::direct, ucg::moe::route::relayed}) {
        scenario setup;  // the ranks are treated as two nodes
        setup.ranks = 4;
        setup.ranks_per_node = 2;
        setup.tokens = 40;
        setup.k = 4;
        setup.settings.routing = route;
        const world all(setup);
        const std::string wrong =
            test::run_node(test::small_node(4), test::ranks_are::threads,
                           [&](test::node_rank& me) { return run_rank(me, all); });
        CHECK(wrong == "");
    }
}
