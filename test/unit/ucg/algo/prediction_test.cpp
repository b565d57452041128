// Compares predicted times on nodes, and the choice that they lead to, with simulations.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "test/support/sanitizer.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/sim/experiment.hpp"

using namespace ucg;
using schedule::collective;

namespace {

struct tried {
    const schedule::algorithm* algorithm;
    double seconds;
    double predicted;
};

std::vector<tried> try_all(const sim::machine& on, const sim::experiment& experiment) {
    const schedule::placement placement = placement_of(on);
    const schedule::shape known = shape_of(experiment, placement);
    schedule::call call;
    call.kind = experiment.kind;
    std::vector<tried> made;
    for (const schedule::algorithm& algorithm : algo::algorithms(experiment.kind)) {
        if (!can_run(algorithm, call, known, false)) continue;
        const auto found = sim::measure(on, experiment, algorithm);
        REQUIRE(found.ok());
        REQUIRE(found->wrong.empty());
        made.push_back({&algorithm, found->seconds, algorithm.cost(known, costs_of(on))});
    }
    return made;
}

// One carried byte of a vector stands for many bytes, but pieces of segments must be whole
// elements.
constexpr std::uint64_t carried = 16384;

void check(const sim::machine& on, const sim::experiment& experiment) {
    const schedule::placement placement = placement_of(on);
    schedule::call call;
    call.kind = experiment.kind;
    const std::vector<tried> all = try_all(on, experiment);
    const auto& chosen = algo::choose(call, shape_of(experiment, placement), costs_of(on), false);
    double best = all.front().seconds;
    for (const tried& each : all)
        best = std::min(best, each.seconds);
    for (const tried& each : all) {
        INFO(name(experiment.kind) << " " << each.algorithm->name << ", " << placement.nodes()
                                   << " nodes of " << placement.max_ranks_per_node() << ", "
                                   << experiment.bytes << " bytes: " << each.seconds
                                   << " s, predicted " << each.predicted << ", the best " << best);
        CHECK(std::abs(each.predicted - each.seconds) <= 0.3 * each.seconds);
        if (each.algorithm == &chosen) CHECK(each.seconds <= 1.3 * best);
    }
}

}  // namespace

TEST_CASE("predictions on nodes are near the simulation, and the choice is near the best") {
    constexpr collective collectives[] = {collective::barrier, collective::bcast,
                                          collective::reduce, collective::allreduce,
                                          collective::allgather};
    const std::vector<schedule::rank_t> nodes = test::instrumented
                                                    ? std::vector<schedule::rank_t>{2, 5}
                                                    : std::vector<schedule::rank_t>{2, 5, 16};
    sim::machine on;
    sim::experiment experiment;
    experiment.carried = carried;
    for (const collective each : collectives) {
        experiment.kind = each;
        for (const schedule::rank_t count : nodes) {
            for (const schedule::rank_t ranks : {1U, 2U, 3U, 8U}) {
                on.ranks = count * ranks;
                on.ranks_per_node = ranks;
                for (double bytes : {8.0, 4096.0, 65536.0, 4194304.0}) {
                    // For allgather the size is that of each rank's block.
                    experiment.bytes =
                        each == collective::allgather ? std::ceil(bytes / 32) : bytes;
                    if (each == collective::barrier) experiment.bytes = 0;
                    check(on, experiment);
                    if (each == collective::barrier) break;
                }
            }
        }
    }
}
