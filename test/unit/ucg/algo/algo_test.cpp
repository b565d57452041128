// Compares every algorithm with a plain reference, on groups of many sizes.
#include <catch2/catch.hpp>
#include <set>

#include "test/unit/ucg/algo/simulated_collective.hpp"
#include "ucg/algo/table.hpp"

using namespace ucg;
using namespace schedule;
using namespace test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
#define HAWSER_SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAWSER_SLOW_BUILD 1
#endif
#endif
// Slow instrumented builds run fewer shapes.
#ifdef HAWSER_SLOW_BUILD
constexpr rank_t sizes[] = {1, 2, 3, 5, 6, 7, 8, 13, 17};
constexpr std::uint64_t counts[] = {0, 3, 31};
#else
constexpr rank_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33};
constexpr std::uint64_t counts[] = {0, 1, 3, 31, 64, 203};
#endif

std::set<rank_t> roots(collective collective, rank_t ranks) {
    if (!traits_of(collective).has_root()) return {0};
    return {0, ranks / 2, ranks - 1};
}

// Runs one algorithm; reports the scenario of a wrong result.
void check(const scenario& setup, const schedule::algorithm& algorithm) {
    if (!fits(setup, algorithm)) return;
    const std::string wrong = run(setup, algorithm);
    if (!wrong.empty()) FAIL(algorithm.name << ": " << text(setup) << ": " << wrong);
}

void check_collective(collective collective) {
    REQUIRE_FALSE(algo::algorithms(collective).empty());
    for (const schedule::algorithm& algorithm : algo::algorithms(collective)) {
        for (const rank_t ranks : sizes) {
            for (const std::uint64_t count : counts) {
                scenario setup{.kind = collective, .ranks = ranks, .count = count};
                for (const rank_t root : roots(collective, ranks)) {
                    setup.root = root;
                    for_each_variant(setup, [&](scenario variant, std::uint64_t seed) {
                        variant.ranks_per_node = seed == 2 ? 3 : 1;
                        check(variant, algorithm);
                    });
                }
            }
        }
    }
    SUCCEED();
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("every algorithm of a collective is right", "", ((collective kind), kind),
                       collective::barrier, collective::bcast, collective::reduce,
                       collective::allreduce, collective::gather, collective::gatherv,
                       collective::scatter, collective::scatterv, collective::allgather,
                       collective::allgatherv, collective::reduce_scatter,
                       collective::reduce_scatter_block, collective::alltoall,
                       collective::alltoallv, collective::scan, collective::exscan) {
    check_collective(kind);
}
