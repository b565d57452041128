// Tests that missing memory is reported as a status.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/unit/ucg/core/world.hpp"
#include "ucg/algo/table.hpp"
#include "ucg/node/engine/local_peers.hpp"
#include "ucg/node/patterns/pattern.hpp"

// Before a fix, the list of requests with a time limit grew in start(), which cannot throw.
TEST_CASE("starting an operation with a time limit needs no memory") {
    test::world in({"a"});
    test::requests first(in), all(in);
    first.add(0, test::barrier());
    ucg_coll_args_t args = test::barrier();
    args.timeout = 1000;
    for (int i = 0; i < 3; ++i)
        all.add(0, args);
    REQUIRE(first.run() == UCS_OK);
    exhaustion::arm(exhaustion::failing::from_then_on, 1);
    for (const ucg_request_h each : all.all())
        static_cast<void>(ucg_request_start(each));
    const std::size_t wanted = exhaustion::disarm();
    CHECK(wanted == 0);
    REQUIRE(in.run_until([&] { return all.over(); }));
    for (const ucg_request_h each : all.all())
        CHECK(ucg_request_test(each) == UCS_OK);
}

// The other ranks learn of an operation that has no memory for its list entry only if it reports
// the failure itself.
TEST_CASE("an operation without memory at its start ends on all ranks") {
    const auto nodes =
        GENERATE(std::vector<std::string>{"a", "a"}, std::vector<std::string>{"a", "b"});
    CAPTURE(nodes);
    test::world in(nodes);
    const std::uint64_t counts[] = {1, 1};
    std::uint32_t from[] = {1, 2}, into[2] = {};
    ucg_coll_args_t args = test::call_of(UCG_COLL_ALLTOALLV, from, into, 0, UCG_TYPE_UINT32);
    args.src_counts = args.dst_counts = counts;
    test::requests sound(in), failed(in);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        sound.add(rank, args);
        failed.add(rank, args);
    }
    REQUIRE(ucg_request_start(sound.all()[0]) == UCS_OK);
    exhaustion::arm(exhaustion::failing::once, 1);
    const ucs_status_t begun = ucg_request_start(failed.all()[0]);
    const bool struck = exhaustion::struck();
    exhaustion::disarm();
    REQUIRE(begun == UCS_OK);
    REQUIRE(struck);
    CHECK(ucg_request_test(failed.all()[0]) == UCS_ERR_NO_MEMORY);
    REQUIRE(ucg_request_start(sound.all()[1]) == UCS_OK);
    REQUIRE(ucg_request_start(failed.all()[1]) == UCS_OK);
    REQUIRE(in.run_until([&] { return sound.over() && failed.over(); }));
    CHECK(ucg_request_test(failed.all()[1]) == UCS_ERR_NO_MEMORY);
    for (const ucg_request_h each : sound.all())
        CHECK(ucg_request_test(each) == UCS_OK);
}

// A rank that has no memory in the middle of a hierarchical call would leave the others of its
// node.
TEST_CASE("hierarchical calls need no memory when they are started again") {
    test::world in({"a", "a", "a", "b", "b", "c"});
    std::vector<float> from(6, 1), into(6);
    for (int i = 0; i < UCG_COLL_LAST; ++i) {
        const auto kind = static_cast<ucg::schedule::collective>(i);
        for (const ucg::schedule::algorithm& algorithm : ucg::algo::algorithms(kind)) {
            if (!has(algorithm.needs, ucg::schedule::condition::nodes)) continue;
            INFO(name(kind) << " " << algorithm.name);
            ucg_coll_args_t args = test::call_of(static_cast<ucg_coll_t>(i), from.data(),
                                                 into.data(), 1, UCG_TYPE_FP32);
            args.algorithm = algorithm.name;
            test::requests tested(in);
            for (std::uint32_t rank = 0; rank < in.size(); ++rank)
                tested.add(rank, args);
            // Some starts need memory for connections, or for queries after a long wait.
            std::size_t fewest = ~std::size_t{0};
            for (int start = 0; start < 10; ++start) {
                exhaustion::arm(exhaustion::failing::from_then_on, ~std::size_t{0});
                const ucs_status_t status = tested.run();
                fewest = std::min(fewest, exhaustion::disarm());
                REQUIRE(status == UCS_OK);
            }
            CHECK(fewest == 0);
        }
    }
}

TEST_CASE("patterns of a node need no memory but that of their operation") {
    using ucg::schedule::collective;
    namespace node = ucg::node;
    for (const node::rank_t ranks : {1U, 2U, 3U, 8U, 64U, 250U}) {
        std::vector<std::uint32_t> numbers(ranks);
        for (std::uint32_t i = 0; i < ranks; ++i)
            numbers[i] = i % 4;
        const node::numa_domains flat(ranks, 0), several(numbers, ranks / 2);
        const node::local_peers peers{std::vector<node::process_identity>(ranks)};
        const std::vector<std::uint64_t> counts(ranks, 3000);
        const ucg::schedule::kernel_reducer sum(ucg::reduce::element::fp32,
                                                ucg::reduce::operation::sum, ranks);
        node::geometry layout;
        layout.ranks = ranks;
        node::tuning params;
        params.single_copy_bytes = 1000;
        node::pattern_memory memory(ranks);
        for (std::size_t i = 0; i < ucg::schedule::collective_count; ++i) {
            ucg::schedule::call args;
            args.kind = static_cast<collective>(i);
            args.count = 3000;
            args.element = 4;
            args.op = &sum;
            if (traits_of(args.kind).has_counts) args.counts = args.offsets = counts.data();
            for (const node::numa_domains* domains : {&flat, &several}) {
                for (const node::local_peers& read : {peers, node::local_peers()}) {
                    INFO(name(args.kind) << " among " << ranks << ", domains " << domains->count());
                    memory.make(args, *domains, layout, params, read);
                    exhaustion::arm(exhaustion::failing::once, ~std::size_t{0});
                    memory.make(args, *domains, layout, params, read);
                    CHECK(exhaustion::disarm() == 0);
                }
            }
        }
    }
}
