// Hierarchical algorithms on nodes with equal and unequal numbers of ranks, in order and mixed.
#include <catch2/catch.hpp>
#include <set>

#include "test/support/sanitizer.hpp"
#include "test/unit/ucg/algo/scene.hpp"
#include "ucg/algo/table.hpp"

using namespace ucg;
using schedule::collective;
using schedule::rank_t;
using test::operators;
using test::scenario;

namespace {

using names = std::vector<std::uint64_t>;

const names placements[] = {
    {0, 0, 1, 1},
    {0, 0, 0, 1},
    {0, 1, 1},
    {0, 1, 0, 1, 0, 1},
    {4, 4, 4, 2, 2, 2, 9, 9, 9, 7, 7, 7},
    {0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 3},
    {0, 1, 2, 0, 1, 2, 0, 1, 0},
    {0, 0, 1, 1, 0, 2, 2, 1, 3, 3, 4, 4, 4, 4, 0},
    {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4},
};

bool reduces(collective what) {
    return what == collective::reduce || what == collective::allreduce;
}

// Whether it could be run.
bool check(const scenario& of, const schedule::algorithm& by) {
    const schedule::placement where = placement_of(machine_of(of));
    schedule::shape known;
    known.ranks = of.ranks;
    known.where = &where;
    test::reference described(of);
    if (!fits(by, described.call_of(0), known, false)) return false;
    const std::string wrong = run(of, by);
    if (!wrong.empty()) FAIL(by.name << ": " << text(of) << ": " << wrong);
    return true;
}

unsigned check_all_ways(scenario of, const schedule::algorithm& by) {
    unsigned done = 0;
    for (const bool in_place : {false, true}) {
        for (const operators how : {operators::sum, operators::average, operators::affine}) {
            if (how != operators::sum && !reduces(of.what)) continue;
            if (in_place && (of.what == collective::barrier || of.what == collective::bcast))
                continue;
            of.in_place = in_place;
            of.how = how;
            for (const std::uint64_t seed : {0U, 1U, 2U}) {
                if (test::instrumented && seed != 2) continue;  // with disorder
                of.seed = seed == 0 ? 0 : seed + of.ranks * 10 + of.count;
                of.starts = seed == 1 ? 2 : 1;
                done += check(of, by) ? 1U : 0U;
            }
        }
    }
    return done;
}

unsigned check_row(const schedule::algorithm& by) {
    unsigned done = 0;
    for (const names& nodes : placements) {
        for (const std::uint64_t count : {0U, 1U, 7U, 40U, 203U}) {
            for (const rank_t leaders : {0U, 2U}) {
                scenario of;
                of.what = by.what;
                of.nodes = nodes;
                of.ranks = static_cast<rank_t>(nodes.size());
                of.count = count;
                of.sizes.leaders = leaders;
                const std::set<rank_t> roots{0, of.ranks / 2, of.ranks - 1};
                for (const rank_t root : has_root(by.what) ? roots : std::set<rank_t>{0}) {
                    of.root = root;
                    done += check_all_ways(of, by);
                }
            }
        }
    }
    return done;
}

}  // namespace

TEST_CASE("hierarchical algorithms are right on every placement") {
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        for (const schedule::algorithm& by : algo::algorithms(static_cast<collective>(i))) {
            if (!has(by.needs, schedule::condition::nodes)) continue;
            INFO(name(by.what) << " " << by.name);
            CHECK(check_row(by) >= 9);
        }
    }
}
