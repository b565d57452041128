#include "ucg/sim/network.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "test/support/sanitizer.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/node/cost.hpp"
#include "ucg/sim/experiment.hpp"

using namespace ucg;
using schedule::collective;

namespace {

sim::outcome outcome_of(const sim::machine& on, const sim::experiment& what, const char* name) {
    const schedule::algorithm* by = algo::find(what.what, name);
    REQUIRE(by != nullptr);
    const auto got = sim::measure(on, what, *by);
    REQUIRE(got.ok());
    return *got;
}

sim::experiment allreduce_of(double bytes) {
    sim::experiment made;
    made.bytes = bytes;
    return made;
}

// LogGP by hand: a message costs both overheads, the latency and its bytes; reducing costs by
// bytes.
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

TEST_CASE("times are those of the closed forms, to one percent") {
    const closed_form form;
    sim::machine on;
    for (const unsigned ranks : {2U, 4U, 16U, 128U, 1024U}) {
        const double p = ranks;
        const double rounds = std::log2(p);
        on.ranks = ranks;
        for (const double bytes : {8.0 * p, 1e4 * p, 1e6}) {
            if (bytes / p < 8 || (ranks == 1024 && (bytes > 1e6 || test::instrumented))) continue;
            const sim::experiment what = allreduce_of(bytes);
            check_time(outcome_of(on, what, "recursive_doubling").seconds,
                       rounds * (form.message + bytes * (form.byte + form.reduced)));
            check_time(
                outcome_of(on, what, "rabenseifner").seconds,
                2 * rounds * form.message + bytes * (p - 1) / p * (2 * form.byte + form.reduced));
            if (bytes / p > static_cast<double>(what.sizes.segment)) continue;
            check_time(
                outcome_of(on, what, "ring").seconds,
                2 * (p - 1) * form.message + bytes * (p - 1) / p * (2 * form.byte + form.reduced));
        }
    }
}

TEST_CASE("rows predict what the simulator finds") {
    sim::machine on;
    on.ranks = 64;
    const struct {
        collective what;
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
        sim::experiment what;
        what.what = row.what;
        what.bytes = 65536;
        const double found = outcome_of(on, what, row.name).seconds;
        const double predicted =
            algo::find(row.what, row.name)
                ->cost(sim::shape_of(what, placement_of(on)), sim::costs_of(on));
        INFO(name(row.what) << " " << row.name << ": " << found << " s, predicted " << predicted);
        CHECK(std::abs(found - predicted) <= row.tolerance * found);
    }
}

TEST_CASE("what is charged does not depend on what is carried") {
    sim::machine on;
    on.ranks = 16;
    sim::experiment what = allreduce_of(1 << 20);
    const sim::outcome small = outcome_of(on, what, "ring");
    what.carried = 1 << 20;
    const sim::outcome all = outcome_of(on, what, "ring");
    CHECK(small.weight > 1);
    CHECK(all.weight == 1);
    check_time(small.seconds, all.seconds);
    CHECK(small.nodes[3].out == Approx(all.nodes[3].out));
}

TEST_CASE("the path adds up to the time, and bytes to what the algorithm sends") {
    sim::machine on;
    on.ranks = 8;
    const sim::outcome ring = outcome_of(on, allreduce_of(1 << 20), "ring");
    CHECK(static_cast<double>(ring.why.total()) / sim::per_second == ring.seconds);
    CHECK(ring.why.messages == 14);
    CHECK(ring.why.between == 14);
    CHECK(ring.messages == 8 * 14);
    for (const sim::traffic& node : ring.nodes) {
        CHECK(node.out == Approx(2.0 * 7 / 8 * (1 << 20)));
        CHECK(node.in == Approx(node.out));
    }
    CHECK(ring.inside == 0);
}

TEST_CASE("ranks of a node share its port") {
    sim::machine on;
    on.ranks = 8;
    on.ranks_per_node = 4;
    sim::experiment what;
    what.what = collective::alltoall;
    what.bytes = 1 << 20;
    const sim::outcome found = outcome_of(on, what, "pairwise");
    // Each of four ranks sends four blocks to the other node through one port.
    CHECK(found.nodes[0].out == Approx(16.0 * (1 << 20)));
    CHECK(found.inside == Approx(24.0 * (1 << 20)));
    CHECK(found.seconds > 16.0 * (1 << 20) / on.between.bandwidth);
    CHECK(found.seconds < 1.3 * 16.0 * (1 << 20) / on.between.bandwidth);
    CHECK(found.why.queued > 0);
}

TEST_CASE("a seed decides about everything") {
    sim::machine on;
    on.ranks = 13;
    on.max_delay = 5000;
    on.max_skew = 5000;
    const auto time_of = [&](std::uint64_t seed) {
        on.seed = seed;
        const sim::outcome found = outcome_of(on, allreduce_of(4096), "double_tree");
        CHECK(found.wrong.empty());
        return found.seconds;
    };
    CHECK(time_of(1) == time_of(1));
    CHECK(time_of(1) != time_of(2));
}

TEST_CASE("thousands of ranks take seconds") {
    sim::machine on;
    on.ranks = test::instrumented ? 512 : 4096;
    on.ranks_per_node = 8;
    for (const char* name : {"recursive_doubling", "rabenseifner", "double_tree"}) {
        const sim::outcome found = outcome_of(on, allreduce_of(1 << 20), name);
        CHECK(found.wrong == "");
    }
}

// As many ranks as there is time for here; tests of ucg_sim have 4,096.
TEST_CASE("rings of a thousand ranks have the right result") {
    sim::machine on;
    on.ranks = test::instrumented ? 128 : 1024;
    on.ranks_per_node = 8;
    sim::experiment what = allreduce_of(1 << 20);
    const sim::outcome all = outcome_of(on, what, "ring");
    CHECK(all.wrong == "");
    CHECK(all.messages == std::uint64_t{2} * on.ranks * (on.ranks - 1));
    what.what = collective::allgather;
    CHECK(outcome_of(on, what, "ring").wrong == "");
}

TEST_CASE("hierarchical collectives of a thousand ranks have the right result") {
    sim::machine on;
    on.ranks = test::instrumented ? 128 : 1024;
    sim::experiment what = allreduce_of(1 << 20);
    what.carried = 16384;  // pieces of a leader's share are elements at least
    for (const schedule::rank_t per_node : {8U, 7U}) {
        on.ranks_per_node = per_node;
        for (const char* name : {"hierarchical", "hierarchical_ring"})
            CHECK(outcome_of(on, what, name).wrong == "");
    }
}

TEST_CASE("a rank that dies ends the operation of all others with an error") {
    sim::machine on;
    on.strict = true;
    on.max_delay = 1000;
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        for (const schedule::algorithm& by : algo::algorithms(static_cast<collective>(i))) {
            for (const double when : {0.0, 300.0, 1000.0, 2500.0, 6000.0}) {
                on.ranks = 16;
                on.ranks_per_node = has(by.needs, schedule::condition::nodes) ? 5 : 1;
                on.seed = i + 1;
                sim::experiment what = allreduce_of(4096);
                what.what = static_cast<collective>(i);
                what.sizes.segment = 1024;
                what.sizes.leader_bytes = 256;
                what.death = when;
                what.victim = 5;
                const auto got = sim::measure(on, what, by);
                REQUIRE(got.ok());
                INFO(name(what.what) << " " << by.name << ", dies at " << when << " ns");
                // It may have ended everywhere, where nothing of the dead rank is missing.
                CHECK((got->status == UCS_ERR_ENDPOINT_TIMEOUT || got->status == UCS_OK));
                CHECK(got->seconds < 1.3e-3);
                const bool all_need_all = what.what == collective::allreduce ||
                                          what.what == collective::barrier ||
                                          what.what == collective::allgather;
                if (all_need_all && when < 2000) CHECK(got->status == UCS_ERR_ENDPOINT_TIMEOUT);
            }
        }
    }
}

TEST_CASE("a collective of a node takes what the engine's cost says, from the last one's call on") {
    sim::machine on;
    on.ranks = 8;
    on.ranks_per_node = 4;
    sim::experiment what;
    what.what = collective::barrier;
    const sim::outcome found = outcome_of(on, what, "hierarchical");
    const double meeting =
        node::cost_of({collective::barrier, 4, 0, 0, 0}, sim::costs_of(on).node).total();
    const double message = 250e-9 + 1500e-9 + 250e-9;
    check_time(found.seconds, 2 * meeting + message);
    CHECK(found.why.meetings == 2);
    CHECK(found.why.messages == 1);
}

TEST_CASE("the steps of a path are kept where they are asked for, in the order of time") {
    sim::machine on;
    on.ranks = 16;
    on.ranks_per_node = 4;
    CHECK(outcome_of(on, allreduce_of(1 << 20), "hierarchical").steps.empty());
    on.trace = true;
    const sim::outcome found = outcome_of(on, allreduce_of(1 << 20), "hierarchical");
    std::uint64_t messages = 0;
    std::uint64_t meetings = 0;
    sim::time_t last = 0;
    for (const sim::trail_step& each : found.steps) {
        CHECK(each.until >= last);
        last = each.until;
        messages += each.what == sim::trail_kind::message ? 1 : 0;
        meetings += each.what == sim::trail_kind::meeting ? 1 : 0;
    }
    CHECK(messages == found.why.messages);
    CHECK(meetings == found.why.meetings);
    CHECK(meetings >= 2);
}
