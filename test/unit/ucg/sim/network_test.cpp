#include "ucg/sim/network.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "test/support/sanitizer.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/schedule/node_cost.hpp"
#include "ucg/sim/experiment.hpp"

using namespace ucg;
using schedule::collective;

namespace {

sim::outcome outcome_of(const sim::machine& spec, const sim::experiment& setup, const char* name) {
    const schedule::algorithm* algorithm = algo::find(setup.kind, name);
    REQUIRE(algorithm != nullptr);
    const auto got = sim::measure(spec, setup, *algorithm);
    REQUIRE(got.ok());
    return *got;
}

sim::experiment allreduce_of(double bytes) {
    sim::experiment made;
    made.bytes = bytes;
    return made;
}

// LogGP in closed form: a message costs both overheads, the latency and its bytes; a reduction
// costs its bytes.
struct closed_form {
    double message = 250e-9 + 1500e-9 + 250e-9;
    double byte = 1 / 12.5e9;
    double reduced = 1 / 20e9;
};

void check_time(double measured, double predicted) {
    INFO("measured " << measured << " s, predicted " << predicted << " s");
    CHECK(std::abs(measured - predicted) < 0.01 * predicted);
}

}  // namespace

TEST_CASE("times match the closed forms within one percent") {
    const closed_form form;
    sim::machine spec;
    for (const unsigned ranks : {2U, 4U, 16U, 128U, 1024U}) {
        const double p = ranks;
        const double rounds = std::log2(p);
        spec.ranks = ranks;
        for (const double bytes : {8.0 * p, 1e4 * p, 1e6}) {
            if (bytes / p < 8 || (ranks == 1024 && (bytes > 1e6 || test::instrumented))) continue;
            const sim::experiment setup = allreduce_of(bytes);
            check_time(outcome_of(spec, setup, "recursive_doubling").seconds,
                       rounds * (form.message + bytes * (form.byte + form.reduced)));
            check_time(
                outcome_of(spec, setup, "rabenseifner").seconds,
                2 * rounds * form.message + bytes * (p - 1) / p * (2 * form.byte + form.reduced));
            if (bytes / p > static_cast<double>(setup.sizes.segment)) continue;
            check_time(
                outcome_of(spec, setup, "ring").seconds,
                2 * (p - 1) * form.message + bytes * (p - 1) / p * (2 * form.byte + form.reduced));
        }
    }
}

TEST_CASE("algorithms predict their simulated times") {
    sim::machine spec;
    spec.ranks = 64;
    const struct {
        collective kind;
        const char* name;
        double tolerance;
    } rows[] = {
        {collective::barrier, "dissemination", 0.01},
        {collective::bcast, "binomial", 0.01},
        {collective::bcast, "scatter_allgather", 0.1},
        {collective::bcast, "chain", 0.1},
        {collective::reduce, "binomial", 0.01},
        {collective::allreduce, "recursive_doubling", 0.01},
        {collective::allgather, "ring", 0.02},
        {collective::allgather, "bruck", 0.02},
        {collective::alltoall, "bruck", 0.02},
        {collective::scan, "recursive_doubling", 0.05},
    };
    for (const auto& row : rows) {
        sim::experiment setup;
        setup.kind = row.kind;
        setup.bytes = 65536;
        const double found = outcome_of(spec, setup, row.name).seconds;
        const double predicted =
            algo::find(row.kind, row.name)
                ->cost(sim::shape_of(setup, placement_of(spec)), sim::costs_of(spec));
        INFO(name(row.kind) << " " << row.name << ": " << found << " s, predicted " << predicted);
        CHECK(std::abs(found - predicted) <= row.tolerance * found);
    }
}

TEST_CASE("charged bytes do not depend on the bytes in memory") {
    sim::machine spec;
    spec.ranks = 16;
    sim::experiment setup = allreduce_of(1 << 20);
    const sim::outcome small = outcome_of(spec, setup, "ring");
    setup.carried = 1 << 20;
    const sim::outcome all = outcome_of(spec, setup, "ring");
    CHECK(small.weight > 1);
    CHECK(all.weight == 1);
    check_time(small.seconds, all.seconds);
    CHECK(small.nodes[3].out == Approx(all.nodes[3].out));
}

TEST_CASE(
    "the critical path adds up to the time, and ports count the bytes that the algorithm sends") {
    sim::machine spec;
    spec.ranks = 8;
    const sim::outcome ring = outcome_of(spec, allreduce_of(1 << 20), "ring");
    CHECK(static_cast<double>(ring.critical_path.total()) / sim::per_second == ring.seconds);
    CHECK(ring.critical_path.messages == 14);
    CHECK(ring.critical_path.between == 14);
    CHECK(ring.messages == 8 * 14);
    for (const sim::traffic& node : ring.nodes) {
        CHECK(node.out == Approx(2.0 * 7 / 8 * (1 << 20)));
        CHECK(node.in == Approx(node.out));
    }
    CHECK(ring.inside == 0);
}

TEST_CASE("ranks of a node share its port") {
    sim::machine spec{.ranks = 8, .ranks_per_node = 4};
    sim::experiment setup;
    setup.kind = collective::alltoall;
    setup.bytes = 1 << 20;
    const sim::outcome found = outcome_of(spec, setup, "pairwise");
    // Each of four ranks sends four blocks to the other node through one port.
    CHECK(found.nodes[0].out == Approx(16.0 * (1 << 20)));
    CHECK(found.inside == Approx(24.0 * (1 << 20)));
    CHECK(found.seconds > 16.0 * (1 << 20) / spec.between.bandwidth);
    CHECK(found.seconds < 1.3 * 16.0 * (1 << 20) / spec.between.bandwidth);
    CHECK(found.critical_path.queued > 0);
}

TEST_CASE("equal seeds give equal times") {
    sim::machine spec{.ranks = 13, .max_delay = 5000, .max_skew = 5000};
    const auto time_of = [&](std::uint64_t seed) {
        spec.seed = seed;
        const sim::outcome found = outcome_of(spec, allreduce_of(4096), "double_tree");
        CHECK(found.wrong.empty());
        return found.seconds;
    };
    CHECK(time_of(1) == time_of(1));
    CHECK(time_of(1) != time_of(2));
}

TEST_CASE("thousands of ranks give the right result") {
    sim::machine spec{.ranks = test::instrumented ? 512 : 4096, .ranks_per_node = 8};
    for (const char* name : {"recursive_doubling", "rabenseifner", "double_tree"}) {
        const sim::outcome found = outcome_of(spec, allreduce_of(1 << 20), name);
        CHECK(found.wrong == "");
    }
}

// This test uses as many ranks as its time allows; the tests of ucg_sim use 4,096.
TEST_CASE("rings of a thousand ranks have the right result") {
    sim::machine spec{.ranks = test::instrumented ? 128 : 1024, .ranks_per_node = 8};
    sim::experiment setup = allreduce_of(1 << 20);
    const sim::outcome all = outcome_of(spec, setup, "ring");
    CHECK(all.wrong == "");
    CHECK(all.messages == std::uint64_t{2} * spec.ranks * (spec.ranks - 1));
    setup.kind = collective::allgather;
    CHECK(outcome_of(spec, setup, "ring").wrong == "");
}

TEST_CASE("hierarchical collectives of a thousand ranks have the right result") {
    sim::machine spec;
    spec.ranks = test::instrumented ? 128 : 1024;
    sim::experiment setup = allreduce_of(1 << 20);
    setup.carried = 16384;  // a piece of a leader's share has at least one element
    for (const schedule::rank_t per_node : {8U, 7U}) {
        spec.ranks_per_node = per_node;
        for (const char* name : {"hierarchical", "hierarchical_ring"})
            CHECK(outcome_of(spec, setup, name).wrong == "");
    }
}

TEST_CASE("a rank that dies ends the operation of all others with an error") {
    sim::machine spec{.max_delay = 1000, .strict = true};
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        for (const schedule::algorithm& algorithm : algo::algorithms(static_cast<collective>(i))) {
            if (has(algorithm.needs, schedule::condition::engine)) continue;
            for (const double when : {0.0, 300.0, 1000.0, 2500.0, 6000.0}) {
                spec.ranks = 16;
                spec.ranks_per_node = has(algorithm.needs, schedule::condition::nodes) ? 5 : 1;
                spec.seed = i + 1;
                sim::experiment setup = allreduce_of(4096);
                setup.kind = static_cast<collective>(i);
                setup.sizes.segment = 1024;
                setup.sizes.leader_bytes = 256;
                setup.death = when;
                setup.victim = 5;
                const auto got = sim::measure(spec, setup, algorithm);
                REQUIRE(got.ok());
                INFO(name(setup.kind) << " " << algorithm.name << ", dies at " << when << " ns");
                // The operation may end well on all ranks if they need nothing more from the dead
                // rank.
                CHECK((got->status == UCS_ERR_ENDPOINT_TIMEOUT || got->status == UCS_OK));
                CHECK(got->seconds < 1.3e-3);
                const bool all_need_all = setup.kind == collective::allreduce ||
                                          setup.kind == collective::barrier ||
                                          setup.kind == collective::allgather;
                if (all_need_all && when < 2000) CHECK(got->status == UCS_ERR_ENDPOINT_TIMEOUT);
            }
        }
    }
}

TEST_CASE("a node collective takes the engine's cost, counted from the last rank's call") {
    sim::machine spec{.ranks = 8, .ranks_per_node = 4};
    sim::experiment setup;
    setup.kind = collective::barrier;
    const sim::outcome found = outcome_of(spec, setup, "hierarchical");
    const double collective_time =
        schedule::node_cost_of({collective::barrier, 4, 0, 0, 0}, sim::costs_of(spec).node).total();
    const double message = 250e-9 + 1500e-9 + 250e-9;
    check_time(found.seconds, 2 * collective_time + message);
    CHECK(found.critical_path.node_collectives == 2);
    CHECK(found.critical_path.messages == 1);
}

TEST_CASE("the steps of a path are traced on request, in the order of time") {
    sim::machine spec{.ranks = 16, .ranks_per_node = 4};
    CHECK(outcome_of(spec, allreduce_of(1 << 20), "hierarchical").steps.empty());
    spec.trace = true;
    const sim::outcome found = outcome_of(spec, allreduce_of(1 << 20), "hierarchical");
    std::uint64_t messages = 0;
    std::uint64_t node_collectives = 0;
    sim::time_t last = 0;
    for (const sim::trace_step& each : found.steps) {
        CHECK(each.until >= last);
        last = each.until;
        messages += each.kind == sim::trace_kind::message ? 1 : 0;
        node_collectives += each.kind == sim::trace_kind::node_collective ? 1 : 0;
    }
    CHECK(messages == found.critical_path.messages);
    CHECK(node_collectives == found.critical_path.node_collectives);
    CHECK(node_collectives >= 2);
}
