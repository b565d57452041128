// What rows predict on nodes, and what is chosen by it, against simulations.
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
    const schedule::algorithm* by;
    double seconds;
    double predicted;
};

std::vector<tried> try_all(const sim::machine& on, const sim::experiment& what) {
    const schedule::placement where = placement_of(on);
    const schedule::shape known = shape_of(what, where);
    schedule::call call;
    call.what = what.what;
    std::vector<tried> made;
    for (const schedule::algorithm& by : algo::algorithms(what.what)) {
        if (!fits(by, call, known, false)) continue;
        const auto found = sim::measure(on, what, by);
        REQUIRE(found.ok());
        REQUIRE(found->wrong.empty());
        made.push_back({&by, found->seconds, by.cost(known, costs_of(on))});
    }
    return made;
}

// A byte carried of a vector stands for many, but pieces of segments must be whole elements.
constexpr std::uint64_t carried = 16384;

void check(const sim::machine& on, const sim::experiment& what) {
    const schedule::placement where = placement_of(on);
    schedule::call call;
    call.what = what.what;
    const std::vector<tried> all = try_all(on, what);
    const auto& chosen = algo::choose(call, shape_of(what, where), costs_of(on), false);
    double best = all.front().seconds;
    for (const tried& each : all)
        best = std::min(best, each.seconds);
    for (const tried& each : all) {
        INFO(name(what.what) << " " << each.by->name << ", " << where.nodes() << " nodes of "
                             << where.most() << ", " << what.bytes << " bytes: " << each.seconds
                             << " s, predicted " << each.predicted << ", the best " << best);
        CHECK(std::abs(each.predicted - each.seconds) <= 0.3 * each.seconds);
        if (each.by == &chosen) CHECK(each.seconds <= 1.3 * best);
    }
}

}  // namespace

TEST_CASE("predictions on nodes are near the simulation, and what is chosen is near the best") {
    constexpr collective collectives[] = {collective::barrier, collective::bcast,
                                          collective::reduce, collective::allreduce,
                                          collective::allgather};
    const std::vector<schedule::rank_t> nodes = test::instrumented
                                                    ? std::vector<schedule::rank_t>{2, 5}
                                                    : std::vector<schedule::rank_t>{2, 5, 16};
    sim::machine on;
    sim::experiment what;
    what.carried = carried;
    for (const collective each : collectives) {
        what.what = each;
        for (const schedule::rank_t count : nodes) {
            for (const schedule::rank_t ranks : {1U, 2U, 3U, 8U}) {
                on.ranks = count * ranks;
                on.ranks_per_node = ranks;
                for (double bytes : {8.0, 4096.0, 65536.0, 4194304.0}) {
                    // Of allgather a size is that of each rank's block.
                    what.bytes = each == collective::allgather ? std::ceil(bytes / 32) : bytes;
                    if (each == collective::barrier) what.bytes = 0;
                    check(on, what);
                    if (each == collective::barrier) break;
                }
            }
        }
    }
}
