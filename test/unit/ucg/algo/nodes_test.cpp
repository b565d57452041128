// Hierarchical algorithms on nodes with equal and unequal numbers of ranks, in order and mixed.
#include <catch2/catch.hpp>
#include <set>

#include "test/support/sanitizer.hpp"
#include "test/unit/ucg/algo/simulated_collective.hpp"
#include "ucg/algo/table.hpp"

using namespace ucg;
using namespace schedule;
using namespace test;

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

// Returns false if the algorithm does not fit.
bool check(const scenario& setup, const schedule::algorithm& algorithm) {
    if (!fits(setup, algorithm)) return false;
    const std::string wrong = run(setup, algorithm);
    if (!wrong.empty()) FAIL(algorithm.name << ": " << text(setup) << ": " << wrong);
    return true;
}

unsigned check_row(const schedule::algorithm& algorithm) {
    unsigned done = 0;
    for (const names& nodes : placements) {
        for (const std::uint64_t count : {0U, 1U, 7U, 40U, 203U}) {
            for (const rank_t leaders : {0U, 2U}) {
                scenario setup;
                setup.kind = algorithm.kind;
                setup.nodes = nodes;
                setup.ranks = static_cast<rank_t>(nodes.size());
                setup.count = count;
                setup.sizes.leaders = leaders;
                const std::set<rank_t> roots{0, setup.ranks / 2, setup.ranks - 1};
                for (const rank_t root :
                     traits_of(algorithm.kind).has_root() ? roots : std::set<rank_t>{0}) {
                    setup.root = root;
                    for_each_variant(setup, [&](const scenario& variant, std::uint64_t seed) {
                        // Instrumented runs have only the variant with random delays.
                        if (test::instrumented && seed != 2) return;
                        done += check(variant, algorithm) ? 1U : 0U;
                    });
                }
            }
        }
    }
    return done;
}

}  // namespace

TEST_CASE("hierarchical algorithms are right on every placement") {
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        for (const schedule::algorithm& algorithm : algo::algorithms(static_cast<collective>(i))) {
            if (!has(algorithm.needs, schedule::condition::nodes)) continue;
            INFO(name(algorithm.kind) << " " << algorithm.name);
            CHECK(check_row(algorithm) >= 9);
        }
    }
}
