// What goes wrong stays where it belongs: groups of the same ranks do not notice what becomes of
// others, and operations that fail leave nothing behind.
#include <catch2/catch.hpp>

#include "test/support/environment.hpp"
#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"

namespace {

// One of rank 0 in each direction: whoever has sent first in a group has made its connection.
ucg_coll_args_t moving(ucg_coll_t coll, std::uint32_t& value) {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = coll;
    args.src = args.dst = &value;
    args.count = 1;
    args.type = UCG_TYPE_UINT32;
    return args;
}

ucs_status_t run(test::world& in, const std::vector<ucg_group_h>& group, ucg_coll_t coll) {
    std::vector<std::uint32_t> from(group.size(), 7), into(group.size());
    std::vector<ucg_request_h> all(group.size());
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
        ucg_coll_args_t args = moving(coll, into[rank]);
        args.src = &from[rank];
        REQUIRE(ucg_request_init(group[rank], &args, &all[rank]) == UCS_OK);
        REQUIRE(ucg_request_start(all[rank]) == UCS_OK);
    }
    REQUIRE(in.run_until([&] {
        for (const ucg_request_h each : all)
            if (ucg_request_test(each) == UCS_INPROGRESS) return false;
        return true;
    }));
    ucs_status_t worst = UCS_OK;
    for (const ucg_request_h each : all) {
        if (ucg_request_test(each) != UCS_OK) worst = ucg_request_test(each);
        CHECK(ucg_request_free(each) == UCS_OK);
    }
    return worst;
}

}  // namespace

// Endpoints to one worker were paired in the order in which they were made, whatever groups they
// were of: when the group of one end was destroyed, the group of the other end failed.
TEST_CASE("a group goes on when another one of the same ranks is destroyed") {
    test::world in({"a", "b"}, GENERATE("sm,self", "tcp,self"));
    const auto split = [&] {
        std::vector<ucg_group_h> parts(2);
        for (std::uint32_t rank = 0; rank < 2; ++rank)
            REQUIRE(ucg_group_split(in.groups[rank], 0, 0, &parts[rank]) == UCS_OK);
        REQUIRE(test::world::wait(in, parts) == UCS_OK);
        return parts;
    };
    std::vector<ucg_group_h> first = split();
    const std::vector<ucg_group_h> second = split();
    // Rank 1 sends in the first one, and rank 0 in the second one.
    CHECK(run(in, first, UCG_COLL_GATHER) == UCS_OK);
    CHECK(run(in, second, UCG_COLL_SCATTER) == UCS_OK);
    ucg_group_destroy(second[0]);
    for (int turns = 0; turns < 1000; ++turns)
        in.progress();
    CHECK(run(in, first, UCG_COLL_ALLREDUCE) == UCS_OK);
    CHECK(run(in, first, UCG_COLL_GATHER) == UCS_OK);
    ucg_group_destroy(second[1]);
    for (const ucg_group_h each : first)
        ucg_group_destroy(each);
}

// Each waited until the other one had dropped what it sent, which it did only when its own
// operation was over; after ten seconds both counted as lost to the group.
TEST_CASE("ranks that cancel what they send to each other go on") {
    test::world in({"a", "b"}, GENERATE("sm,self", "tcp,self"));
    constexpr std::uint64_t count = 1 << 20;
    std::vector<std::vector<std::byte>> from(2), into(2);
    std::vector<ucg_request_h> all(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        from[rank].resize(2 * count);
        into[rank].resize(2 * count);
        ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
        args.coll = UCG_COLL_ALLTOALL;
        args.src = from[rank].data();
        args.dst = into[rank].data();
        args.count = count;
        REQUIRE(ucg_request_init(in.groups[rank], &args, &all[rank]) == UCS_OK);
        REQUIRE(ucg_request_start(all[rank]) == UCS_OK);
        REQUIRE(ucg_request_cancel(all[rank]) == UCS_OK);
    }
    REQUIRE(in.run_until([&] {
        return ucg_request_test(all[0]) != UCS_INPROGRESS &&
               ucg_request_test(all[1]) != UCS_INPROGRESS;
    }));
    for (const ucg_request_h each : all) {
        CHECK(ucg_request_test(each) == UCS_ERR_CANCELED);
        CHECK(ucg_request_free(each) == UCS_OK);
    }
    CHECK(run(in, in.groups, UCG_COLL_ALLREDUCE) == UCS_OK);
}

// It timed out where it waited for the one before, and then waited for the dead rank for ever.
TEST_CASE("compared operations behind one that hangs end when their time is up") {
    const test::env check("UCG_CHECK", "y");
    const test::log_capture captured;
    test::world in({"a", "b"});
    in.freeze(1);
    std::vector<ucg_request_h> all(3);
    for (ucg_request_h& each : all) {
        ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
        args.timeout = &each == &all[0] ? 0.2 : 0.1;
        REQUIRE(ucg_request_init(in.groups[0], &args, &each) == UCS_OK);
        REQUIRE(ucg_request_start(each) == UCS_OK);
    }
    CHECK(in.run_until([&] { return ucg_request_test(all[2]) != UCS_INPROGRESS; }));
    for (const ucg_request_h each : all) {
        CHECK(ucg_request_test(each) == UCS_ERR_TIMED_OUT);
        CHECK(ucg_request_free(each) == UCS_OK);
    }
}

TEST_CASE("a rank that waits for one that has destroyed the group hears so") {
    test::world in({"a", "b"}, GENERATE("sm,self", "tcp,self"));
    // Rank 1 has no endpoint by which it could say so.
    ucg_group_destroy(std::exchange(in.groups[1], nullptr));
    std::uint32_t value = 0;
    ucg_coll_args_t args = moving(UCG_COLL_BCAST, value);
    args.src = nullptr;
    args.root = 1;
    ucg_request_h waits = nullptr;
    REQUIRE(ucg_request_init(in.groups[0], &args, &waits) == UCS_OK);
    REQUIRE(ucg_request_start(waits) == UCS_OK);
    REQUIRE(in.run_until([&] { return ucg_request_test(waits) != UCS_INPROGRESS; }));
    CHECK(ucg_request_test(waits) == UCS_ERR_CONNECTION_RESET);
    CHECK(ucg_request_free(waits) == UCS_OK);
}
