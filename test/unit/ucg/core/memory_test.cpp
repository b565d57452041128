// Memory that runs out is a status.
#include <catch2/catch.hpp>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/unit/ucg/core/world.hpp"

// The list of those whose time is limited grew in start(), from which nothing can be thrown.
TEST_CASE("starting an operation with a limit of time needs no memory") {
    test::world in({"a"});
    test::requests first(in), all(in);
    first.add(0, test::barrier());
    ucg_coll_args_t args = test::barrier();
    args.timeout = 1000;
    for (int i = 0; i < 3; ++i)
        all.add(0, args);
    REQUIRE(first.run() == UCS_OK);
    exhaustion::arm(exhaustion::how::from_then_on, 1);
    for (const ucg_request_h each : all.all())
        static_cast<void>(ucg_request_start(each));
    const std::size_t wanted = exhaustion::disarm();
    CHECK(wanted == 0);
    REQUIRE(in.run_until([&] { return all.over(); }));
    for (const ucg_request_h each : all.all())
        CHECK(ucg_request_test(each) == UCS_OK);
}
