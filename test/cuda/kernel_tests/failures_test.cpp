// Launches end, with a report, when another rank does not come or has failed.
#include <catch2/catch.hpp>

#include "test/cuda/kernel_tests/checked_calls.hpp"

using namespace kernel_tests;
using ucg::cuda::failure;
using ucg::cuda::kernel;

namespace {

constexpr call sum{
    .run = kernel::allreduce_two_shot, .count = 1000, .type = UCG_TYPE_FP32, .op = UCG_OP_SUM};

// Returns the launches of the ranks before `end`, with this timeout.
std::vector<parameters> some(const checked_call& prepared, std::size_t end,
                             std::uint64_t timeout_ms = 30'000) {
    std::vector<parameters> chosen(prepared.launches().begin(),
                                   prepared.launches().begin() + static_cast<std::ptrdiff_t>(end));
    for (parameters& each : chosen)
        each.timeout_ns = timeout_ms * 1'000'000;
    return chosen;
}

void check_report(const local_node& node, std::uint32_t rank, failure reason, int peer) {
    CAPTURE(rank);
    CHECK(node.report(rank).reason == reason);
    CHECK(static_cast<int>(node.report(rank).peer) == peer);
}

}  // namespace

TEST_CASE("a rank that does not come is reported after the timeout") {
    local_node node(3);
    checked_call prepared(node, sum);
    REQUIRE(node.run(some(prepared, 1, 20), {}) == std::nullopt);
    const auto report = node.report(0);
    CHECK(report.reason == failure::timed_out);
    CHECK((report.peer == 1 || report.peer == 2));
    CHECK(report.channel < 2);
}

TEST_CASE("a rank that fails between two flags is reported") {
    local_node node(2);
    checked_call prepared(node, sum);
    for (std::uint32_t channel = 0; channel < 2; ++channel)
        node.channel(0, channel).flags[1] = 1;
    REQUIRE(node.run(some(prepared, 1, 20), {}) == std::nullopt);
    check_report(node, 0, failure::timed_out, 1);
    CHECK(node.channel(1, 0).flags[0] == ucg::cuda::failed_flag);
}

TEST_CASE("the host can end a launch, and all ranks that wait for it end, too") {
    local_node node(3);
    checked_call prepared(node, sum);
    node.abort(0);
    REQUIRE(node.run(some(prepared, 2), {}) == std::nullopt);
    CHECK(node.report(0).reason == failure::aborted);
    check_report(node, 1, failure::peer_failed, 0);
    CHECK(node.report(2).reason == failure::none);

    // Rank 2 comes late, and the others are launched again.
    node.run(prepared.launches(), {}).value_or("");
    CHECK(node.report(0).reason == failure::aborted);
    check_report(node, 1, failure::peer_failed, 0);
    CHECK(node.report(2).reason == failure::peer_failed);
}

TEST_CASE("after a failure every kernel ends at once") {
    local_node node(2);
    checked_call first(node, sum);
    node.abort(0);
    REQUIRE(node.run(some(first, 1), {}) == std::nullopt);
    for (const kernel run : {kernel::barrier, kernel::broadcast, kernel::broadcast_in_parts,
                             kernel::allgather, kernel::alltoall, kernel::allreduce_one_shot,
                             kernel::allreduce_two_shot, kernel::reduce_scatter}) {
        call next{.run = run, .count = 100, .element_bytes = 4};
        if (ucg::cuda::entry_of(run) == ucg::cuda::reducing_entry) next.type = UCG_TYPE_FP32;
        checked_call prepared(node, next);
        REQUIRE(node.run(prepared.launches(), {.blocks = 4}) == std::nullopt);
        CHECK(node.report(0).reason == failure::aborted);
        check_report(node, 1, failure::peer_failed, 0);
    }
}
