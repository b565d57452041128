// Tests of the MoE exchanges in the simulator: the bytes that they move, and their times.
#include "ucg/sim/moe_experiment.hpp"

#include <catch2/catch.hpp>

using namespace ucg;
using namespace sim;

namespace {

sim::machine nodes_of(sim::rank_t ranks, sim::rank_t per_node) {
    sim::machine made{.ranks = ranks, .ranks_per_node = per_node};
    return made;
}

moe_outcome outcome_of(const sim::machine& spec, const sim::moe_experiment& setup) {
    auto result = measure(spec, setup);
    REQUIRE(result.ok());
    CHECK(result->outcome.wrong == "");
    CHECK(result->outcome.seconds > 0);
    return *std::move(result);
}

double between(const moe_outcome& outcome) {
    double sum = 0;
    for (const sim::traffic& each : outcome.outcome.nodes)
        sum += each.out;
    return sum;
}

double busiest(const moe_outcome& outcome) {
    double most = 0;
    for (const sim::traffic& each : outcome.outcome.nodes)
        most = std::max({most, each.out, each.in});
    return most;
}

// 16 ranks, where each token chooses all of them.
sim::moe_experiment to_every_rank() {
    sim::moe_experiment one;
    one.tokens = 32;
    one.k = 16;
    one.experts = 1;
    one.row_bytes = 4096;
    return one;
}

}  // namespace

TEST_CASE("moe in the simulator: every exchange by every route delivers the right rows") {
    const sim::rank_t per_node = GENERATE(1U, 3U, 4U);
    const sim::machine spec = nodes_of(12, per_node);
    for (const exchange kind :
         {exchange::moe_notify, exchange::moe_dispatch, exchange::moe_combine}) {
        for (const moe::route route :
             {moe::route::direct, moe::route::relayed, moe::route::choose}) {
            sim::moe_experiment one;
            one.kind = kind;
            one.route = route;
            one.tokens = 20;
            const moe_outcome got = outcome_of(spec, one);
            CHECK(got.relayed + got.direct == 12 * (12 / per_node - 1));
            if (route != moe::route::choose)
                CHECK((route == moe::route::direct || per_node == 1 ? got.relayed : got.direct) ==
                      0);
        }
    }
}

TEST_CASE("moe in the simulator: rows determine the bytes between nodes") {
    sim::moe_experiment one = to_every_rank();
    const sim::machine spec = nodes_of(16, 4);
    for (const exchange kind : {exchange::moe_dispatch, exchange::moe_combine}) {
        one.kind = kind;
        one.route = moe::route::direct;
        CHECK(between(outcome_of(spec, one)) == 16.0 * 32 * 12 * 4096);
        one.route = moe::route::relayed;
        CHECK(between(outcome_of(spec, one)) == 16.0 * 32 * 3 * 4096);
    }
}

TEST_CASE("moe in the simulator: low latency delivers the right rows on one and on several nodes") {
    const sim::rank_t per_node = GENERATE(1U, 3U, 12U);
    for (const exchange kind : {exchange::moe_ll_dispatch, exchange::moe_ll_combine}) {
        sim::moe_experiment one;
        one.kind = kind;
        one.tokens = 20;
        for (const double row_bytes : {2.0, 64.0, 14336.0}) {
            one.row_bytes = row_bytes;
            const moe_outcome got = outcome_of(nodes_of(12, per_node), one);
            CHECK(got.predicted == 0);
            CHECK(got.relayed + got.direct == 0);
        }
    }
}

// Dispatch sends a row with its token's number for each choice, and a header for each pair of
// ranks.
TEST_CASE("moe in the simulator: rows and headers determine the bytes of low latency") {
    sim::moe_experiment one = to_every_rank();
    const sim::machine spec = nodes_of(16, 4);
    const double pairs = 16.0 * 12, rows = pairs * 32;
    one.kind = exchange::moe_ll_combine;
    CHECK(between(outcome_of(spec, one)) == Approx(rows * 4096).epsilon(1e-9));
    one.kind = exchange::moe_ll_dispatch;
    CHECK(between(outcome_of(spec, one)) == Approx(rows * 4100 + pairs * 28).epsilon(1e-9));
    one.experts = 64;  // headers are longer than eight elements
    one.k = 1024;
    one.tokens = 1;
    CHECK(between(outcome_of(spec, one)) == Approx(pairs * (64 * 4100 + 280)).epsilon(1e-9));
}

// The port between nodes limits large rows, and latency limits few rows.
TEST_CASE(
    "moe in the simulator: ports limit large low-latency rows, and latency limits small ones") {
    sim::moe_experiment one;
    const sim::machine spec = nodes_of(32, 8);
    for (const exchange kind : {exchange::moe_ll_dispatch, exchange::moe_ll_combine}) {
        one.kind = kind;
        const moe_outcome got = outcome_of(spec, one);
        const double port = busiest(got) / spec.between.bandwidth;
        INFO(got.outcome.seconds << " s, port " << port << " s");
        CHECK(got.outcome.seconds > port);
        CHECK(got.outcome.seconds < 1.6 * port);
    }
    one.tokens = 1;
    one.k = 1;
    one.row_bytes = 16;
    const moe_outcome small = outcome_of(nodes_of(2, 1), one);
    CHECK(small.outcome.seconds < 4 * 2e-6);  // two messages in one direction
}

// The prediction that selects routes matches the simulation if ports are the limit.
TEST_CASE("moe in the simulator: the busiest port determines the time of large rows") {
    sim::moe_experiment one;
    one.tokens = 256;
    const sim::machine spec = nodes_of(32, 8);
    for (const moe::route route : {moe::route::direct, moe::route::relayed}) {
        one.route = route;
        const moe_outcome got = outcome_of(spec, one);
        const double port = busiest(got) / spec.between.bandwidth;
        INFO(got.outcome.seconds << " s, port " << port << " s, predicted " << got.predicted
                                 << " s");
        CHECK(got.outcome.seconds > port);
        CHECK(got.outcome.seconds < 1.6 * port);
        CHECK(got.predicted > 0.6 * got.outcome.seconds);
        CHECK(got.predicted < 1.6 * got.outcome.seconds);
    }
    one.route = moe::route::choose;
    CHECK(outcome_of(spec, one).direct == 0);  // because relaying is worthwhile for 8 choices of
                                               // 256 experts on 4 nodes
}

TEST_CASE("moe in the simulator: invalid experiments are refused") {
    sim::moe_experiment one;
    one.k = 9;
    CHECK(measure(nodes_of(1, 1), one).status() == UCS_ERR_INVALID_PARAM);
    one.k = 8;
    CHECK(measure(nodes_of(1, 1), one).ok());
    one.tokens = 0;
    CHECK(measure(nodes_of(1, 1), one).status() == UCS_ERR_INVALID_PARAM);
}
