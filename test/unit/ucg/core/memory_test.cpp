// Tests that missing memory is reported as a status.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/unit/ucg/core/world.hpp"

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
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = UCG_COLL_ALLTOALLV;
    args.src = from;
    args.dst = into;
    args.type = UCG_TYPE_UINT32;
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
