// Every algorithm on groups of many sizes, against a plain reference.
#include <catch2/catch.hpp>
#include <set>

#include "test/unit/ucg/algo/scene.hpp"
#include "ucg/algo/table.hpp"

using namespace ucg;
using schedule::collective;
using schedule::rank_t;
using test::operators;
using test::scenario;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
#define HAWSER_SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAWSER_SLOW_BUILD 1
#endif
#endif
// Builds that are many times slower run fewer shapes.
#ifdef HAWSER_SLOW_BUILD
constexpr rank_t sizes[] = {1, 2, 3, 5, 6, 7, 8, 13, 17};
constexpr std::uint64_t counts[] = {0, 3, 31};
#else
constexpr rank_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33};
constexpr std::uint64_t counts[] = {0, 1, 3, 31, 64, 203};
#endif

bool reduces(collective what) {
    return what == collective::reduce || what == collective::allreduce ||
           what == collective::reduce_scatter || what == collective::reduce_scatter_block ||
           what == collective::scan || what == collective::exscan;
}

// Which has no ranks to divide by.
bool is_scan(collective what) {
    return what == collective::scan || what == collective::exscan;
}

std::set<rank_t> roots(collective what, rank_t ranks) {
    if (!has_root(what)) return {0};
    return {0, ranks / 2, ranks - 1};
}

// Tries one; says which it was where it goes wrong.
void check(const scenario& of, const schedule::algorithm& by) {
    test::reference described(of);
    const schedule::placement where = placement_of(machine_of(of));
    schedule::shape known;
    known.ranks = of.ranks;
    known.where = &where;
    if (!fits(by, described.call_of(0), known, false)) return;
    const std::string wrong = run(of, by);
    if (!wrong.empty()) FAIL(by.name << ": " << text(of) << ": " << wrong);
}

void check_all_ways(scenario of, const schedule::algorithm& by) {
    for (const bool in_place : {false, true}) {
        for (const operators how : {operators::sum, operators::average, operators::affine}) {
            if (how != operators::sum && !reduces(of.what)) continue;
            if (how == operators::average && is_scan(of.what)) continue;
            if (in_place && (of.what == collective::barrier || of.what == collective::bcast))
                continue;
            of.in_place = in_place;
            of.how = how;
            for (const std::uint64_t seed : {0U, 1U, 2U}) {
                of.seed = seed == 0 ? 0 : seed + of.ranks * 10 + of.count;
                of.ranks_per_node = seed == 2 ? 3 : 1;
                of.starts = seed == 1 ? 2 : 1;
                check(of, by);
            }
        }
    }
}

void check_collective(collective what) {
    REQUIRE_FALSE(algo::algorithms(what).empty());
    for (const schedule::algorithm& by : algo::algorithms(what)) {
        for (const rank_t ranks : sizes) {
            for (const std::uint64_t count : counts) {
                scenario of;
                of.what = what;
                of.ranks = ranks;
                of.count = count;
                for (const rank_t root : roots(what, ranks)) {
                    of.root = root;
                    check_all_ways(of, by);
                }
            }
        }
    }
    SUCCEED();
}

}  // namespace

TEST_CASE("barrier is right") {
    check_collective(collective::barrier);
}
TEST_CASE("bcast is right") {
    check_collective(collective::bcast);
}
TEST_CASE("reduce is right") {
    check_collective(collective::reduce);
}
TEST_CASE("allreduce is right") {
    check_collective(collective::allreduce);
}
TEST_CASE("gather is right") {
    check_collective(collective::gather);
}
TEST_CASE("gatherv is right") {
    check_collective(collective::gatherv);
}
TEST_CASE("scatter is right") {
    check_collective(collective::scatter);
}
TEST_CASE("scatterv is right") {
    check_collective(collective::scatterv);
}
TEST_CASE("allgather is right") {
    check_collective(collective::allgather);
}
TEST_CASE("allgatherv is right") {
    check_collective(collective::allgatherv);
}
TEST_CASE("reduce_scatter is right") {
    check_collective(collective::reduce_scatter);
}
TEST_CASE("reduce_scatter_block is right") {
    check_collective(collective::reduce_scatter_block);
}
TEST_CASE("alltoall is right") {
    check_collective(collective::alltoall);
}
TEST_CASE("alltoallv is right") {
    check_collective(collective::alltoallv);
}
TEST_CASE("scan is right") {
    check_collective(collective::scan);
}
TEST_CASE("exscan is right") {
    check_collective(collective::exscan);
}
