// Tests which algorithm is chosen for a collective.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "ucg/algo/table.hpp"

using namespace ucg;
using namespace schedule;

namespace {

schedule::shape shape_of(schedule::rank_t ranks, double bytes) {
    schedule::shape made;
    made.ranks = ranks;
    made.bytes = bytes;
    return made;
}

std::string chosen(double bytes, bool deterministic = false) {
    schedule::call call;
    call.kind = collective::allreduce;
    return algo::choose(call, shape_of(64, bytes), {}, deterministic).name;
}

}  // namespace

TEST_CASE("names of algorithms are different, and each is found") {
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        const auto kind = static_cast<collective>(i);
        std::set<std::string> names;
        for (const schedule::algorithm& each : algo::algorithms(kind)) {
            CHECK(names.insert(each.name).second);
            CHECK(algo::find(kind, each.name) == &each);
            CHECK(each.kind == kind);
        }
        CHECK_FALSE(names.empty());
        CHECK(algo::find(kind, "gossip") == nullptr);
    }
}

TEST_CASE("small data takes few rounds, large data few bytes") {
    CHECK(chosen(8) == "recursive_doubling");
    CHECK(chosen(1 << 20) != "recursive_doubling");
}

TEST_CASE("a choice keeps what was asked for") {
    schedule::call call;
    const schedule::user_reducer op([](const void*, void*, std::size_t, void*) {}, nullptr, 8,
                                    false);
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        call.kind = static_cast<collective>(i);
        for (const schedule::rank_t ranks : {1U, 2U, 3U, 8U, 100U, 5000U}) {
            for (const double bytes : {0.0, 8.0, 65536.0, 1e8}) {
                // A deterministic call must not reduce in an order that depends on an element's
                // index.
                call.op = nullptr;
                const auto& steady = algo::choose(call, shape_of(ranks, bytes), {}, true);
                CHECK_FALSE(has(steady.needs, condition::order_by_place));
                // An operator that is not commutative needs the order of the ranks.
                call.op = &op;
                const auto& ordered = algo::choose(call, shape_of(ranks, bytes), {}, false);
                CHECK_FALSE(has(ordered.needs, condition::commutative));
                if (ranks == 3) CHECK_FALSE(has(ordered.needs, condition::power_of_two));
            }
        }
    }
}
