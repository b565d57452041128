// Tests the order of reductions: which algorithms give the same bits. Also tests averages.
#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "ucg/algo/table.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/sim/network.hpp"

using namespace ucg;
using namespace schedule;

namespace {

using rows = std::vector<std::vector<float>>;

// Runs an allreduce of one vector per rank. Returns the result of rank 0, and checks that all ranks
// have the same.
std::vector<float> allreduce(const rows& input, const char* name, reduce::operation op,
                             std::uint64_t seed, rank_t per_node = 1) {
    sim::machine on;
    on.ranks = static_cast<rank_t>(input.size());
    on.ranks_per_node = per_node;
    on.strict = true;
    on.seed = seed;
    on.max_delay = seed == 0 ? 0 : 20'000;
    sim::network net(on);
    const schedule::kernel_reducer reducer(reduce::element::fp32, op, on.ranks);
    rows output(on.ranks, std::vector<float>(input[0].size()));
    std::deque<schedule::operation> operations;
    for (rank_t rank = 0; rank < on.ranks; ++rank) {
        schedule::call call;
        call.kind = collective::allreduce;
        call.from = input[rank].data();
        call.into = output[rank].data();
        call.count = input[rank].size();
        call.element = sizeof(float);
        call.op = &reducer;
        call.sizes.segment = 64;
        call.sizes.leader_bytes = 16;
        operations.emplace_back(net.fabric(rank), net.frames());
        REQUIRE(operations.back().init(*algo::find(call.kind, name), call) == UCS_OK);
    }
    for (schedule::operation& each : operations)
        each.start();
    net.run();
    for (rank_t rank = 0; rank < on.ranks; ++rank) {
        REQUIRE(operations[rank].status() == UCS_OK);
        if (output[rank] != output[0]) FAIL("rank " << rank << " has other bits than rank 0");
    }
    return output[0];
}

rows random_rows(rank_t ranks, std::size_t count) {
    ucs::sys::random numbers(ranks);
    rows made(ranks, std::vector<float>(count));
    for (std::vector<float>& row : made)
        for (float& value : row)
            value = static_cast<float>(numbers.below(1U << 30U)) * 1e-5F;
    return made;
}

rows part_of(const rows& all, std::size_t begin, std::size_t end) {
    rows made;
    for (const std::vector<float>& row : all)
        made.emplace_back(row.begin() + static_cast<std::ptrdiff_t>(begin),
                          row.begin() + static_cast<std::ptrdiff_t>(end));
    return made;
}

constexpr rank_t sizes[] = {2, 3, 7, 8, 12, 17};

// Returns the ranks on a node: 3 if the algorithm needs nodes, otherwise 1.
rank_t per_node(const schedule::algorithm& algorithm) {
    return has(algorithm.needs, schedule::condition::nodes) ? 3 : 1;
}
bool serves(const schedule::algorithm& algorithm, rank_t ranks) {
    if (has(algorithm.needs, schedule::condition::engine)) return false;
    return per_node(algorithm) == 1 || ranks > per_node(algorithm);
}

}  // namespace

TEST_CASE("bits do not depend on the order of arrival") {
    for (const schedule::algorithm& algorithm : algo::algorithms(collective::allreduce)) {
        for (const rank_t ranks : sizes) {
            if (!serves(algorithm, ranks)) continue;
            const rows input = random_rows(ranks, 101);
            const auto first =
                allreduce(input, algorithm.name, reduce::operation::sum, 0, per_node(algorithm));
            for (std::uint64_t seed = 1; seed < 5; ++seed) {
                INFO(algorithm.name << ", " << ranks << " ranks, seed " << seed);
                CHECK(allreduce(input, algorithm.name, reduce::operation::sum, seed,
                                per_node(algorithm)) == first);
            }
        }
    }
}

TEST_CASE("without order_by_place, bits do not depend on how data is cut") {
    for (const schedule::algorithm& algorithm : algo::algorithms(collective::allreduce)) {
        if (has(algorithm.needs, schedule::condition::order_by_place)) continue;
        for (const rank_t ranks : sizes) {
            if (!serves(algorithm, ranks)) continue;
            const rows input = random_rows(ranks, 101);
            const auto whole =
                allreduce(input, algorithm.name, reduce::operation::sum, 0, per_node(algorithm));
            auto cut = allreduce(part_of(input, 0, 37), algorithm.name, reduce::operation::sum, 0,
                                 per_node(algorithm));
            const auto rest = allreduce(part_of(input, 37, 101), algorithm.name,
                                        reduce::operation::sum, 0, per_node(algorithm));
            cut.insert(cut.end(), rest.begin(), rest.end());
            INFO(algorithm.name << ", " << ranks << " ranks");
            CHECK(cut == whole);
        }
    }
}

TEST_CASE("recursive doubling and Rabenseifner's algorithm give the same bits") {
    for (const rank_t ranks : sizes) {
        const rows input = random_rows(ranks, 101);
        CHECK(allreduce(input, "recursive_doubling", reduce::operation::sum, 0) ==
              allreduce(input, "rabenseifner", reduce::operation::sum, 0));
    }
}

// The test above shows that the two algorithms of allreduce give the same bits. The other
// collectives have only one deterministic algorithm.
TEST_CASE("deterministic reductions have one order on every placement of ranks") {
    const schedule::kernel_reducer sum(reduce::element::fp32, reduce::operation::sum, 6);
    const std::pair<collective, std::vector<std::string>> left[] = {
        {collective::allreduce, {"recursive_doubling", "rabenseifner"}},
        {collective::reduce, {"rabenseifner"}},
        {collective::reduce_scatter, {"recursive_halving"}},
        {collective::reduce_scatter_block, {"recursive_halving"}},
        {collective::scan, {"recursive_doubling"}},
        {collective::exscan, {"recursive_doubling"}},
    };
    for (const std::vector<std::uint64_t>& nodes :
         {std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1}, {1, 1, 2, 2, 3, 3}, {1, 2, 1, 2, 1, 2}}) {
        const schedule::placement placement(nodes);
        for (const auto& [collective, names] : left) {
            schedule::call call{.kind = collective, .op = &sum};
            std::vector<std::string> found;
            for (const schedule::algorithm& algorithm : algo::algorithms(collective))
                if (can_run(algorithm, call, {.ranks = 6, .node_placement = &placement}, true))
                    found.emplace_back(algorithm.name);
            INFO(schedule::name(collective));
            CHECK(found == names);
        }
    }
}

TEST_CASE("every algorithm divides an average exactly once") {
    for (const schedule::algorithm& algorithm : algo::algorithms(collective::allreduce)) {
        for (const rank_t ranks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 17U}) {
            if (!serves(algorithm, ranks)) continue;
            const rows input(ranks, std::vector<float>(41, 6));
            INFO(algorithm.name << ", " << ranks << " ranks");
            CHECK(allreduce(input, algorithm.name, reduce::operation::average, 0,
                            per_node(algorithm)) == std::vector<float>(41, 6));
        }
    }
}
