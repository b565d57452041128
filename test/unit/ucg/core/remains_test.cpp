// Tests that failures stay local: groups of the same ranks do not affect each other, and failed
// operations leave nothing behind.
#include <ucp/api/ucp.h>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"

namespace {

// Runs one operation: the rank that sends first in a group makes the connection.
ucs_status_t run(test::world& in, const std::vector<ucg_group_h>& group, ucg_coll_t coll) {
    std::vector<std::uint32_t> from(group.size(), 7), into(group.size());
    test::requests all(in, group);
    for (std::uint32_t rank = 0; rank < group.size(); ++rank)
        all.add(rank, test::call_of(coll, &from[rank], &into[rank], 1, UCG_TYPE_UINT32));
    return all.run();
}

}  // namespace

// Before a fix, endpoints to one worker were paired in the order in which they were made, across
// groups: when the group of one end was destroyed, the group of the other end failed.
TEST_CASE("a group remains usable when another one of the same ranks is destroyed") {
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
    // Rank 1 sends in the first group, and rank 0 in the second.
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

// Before a fix, each rank waited until the other had dropped what it sent, which happened only when
// its own operation had ended; after ten seconds both counted as lost.
TEST_CASE("ranks that cancel sends to each other remain usable") {
    test::world in({"a", "b"}, GENERATE("sm,self", "tcp,self"));
    constexpr std::uint64_t count = 1 << 20;
    std::vector<std::vector<std::byte>> from(2, std::vector<std::byte>(2 * count)), into = from;
    test::requests all(in);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        all.add(rank,
                test::call_of(UCG_COLL_ALLTOALL, from[rank].data(), into[rank].data(), count));
        REQUIRE(ucg_request_start(all.all()[rank]) == UCS_OK);
        REQUIRE(ucg_request_cancel(all.all()[rank]) == UCS_OK);
    }
    all.finish();
    CHECK(all.ends() == std::vector<ucs_status_t>(2, UCS_ERR_CANCELED));
    CHECK(run(in, in.groups, UCG_COLL_ALLREDUCE) == UCS_OK);
}

// Before a fix, an operation timed out while it waited for the one before, and then waited for the
// dead rank for ever.
TEST_CASE("compared operations behind one that hangs end at their time limit") {
    const test::env check("UCG_CHECK", "y");
    const test::log_capture captured;
    test::world in({"a", "b"});
    in.freeze(1);
    test::requests all(in);
    for (const double timeout : {0.2, 0.1, 0.1}) {
        ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
        args.timeout = timeout;
        all.add(0, args);
    }
    all.start();
    CHECK(in.run_until([&] { return ucg_request_test(all.all()[2]) != UCS_INPROGRESS; }));
    CHECK(all.ends() == std::vector<ucs_status_t>(3, UCS_ERR_TIMED_OUT));
}

TEST_CASE("a rank that waits for one that has destroyed the group gets an error") {
    test::world in({"a", "b"}, GENERATE("sm,self", "tcp,self"));
    // Rank 1 has no endpoint by which it could report that.
    ucg_group_destroy(std::exchange(in.groups[1], nullptr));
    std::uint32_t value = 0;
    ucg_coll_args_t args = test::call_of(UCG_COLL_BCAST, nullptr, &value, 1, UCG_TYPE_UINT32);
    args.root = 1;
    test::requests waits(in);
    waits.add(0, args);
    CHECK(waits.run() == UCS_ERR_CONNECTION_RESET);
}

namespace {

// Two ranks with workers of the test, so that these make progress without the groups.
struct apart {
    apart() : board(2), contexts(2), groups(2), workers(2) {
        ucp_params_t ucp_params{};
        ucp_params.field_mask = UCP_PARAM_FIELD_FEATURES;
        ucp_params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
        REQUIRE(ucp_init(&ucp_params, nullptr, &ucp) == UCS_OK);
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            const ucp_worker_params_t none{};
            REQUIRE(ucp_worker_create(ucp, &none, &workers[rank]) == UCS_OK);
            const test::env node("UCG_NODE_ID", rank == 0 ? "a" : "b");
            ucg_context_params_t params = UCG_CONTEXT_PARAMS_INIT;
            params.worker = workers[rank];
            REQUIRE(ucg_context_create(&params, &contexts[rank]) == UCS_OK);
            ucg_group_params_t making = UCG_GROUP_PARAMS_INIT;
            making.oob = board.oob(rank);
            REQUIRE(ucg_group_create(contexts[rank], &making, &groups[rank]) == UCS_OK);
        }
    }
    ~apart() {
        for (const ucg_group_h each : groups)
            ucg_group_destroy(each);
        for (const ucg_context_h each : contexts)
            ucg_context_destroy(each);
        for (const ucp_worker_h each : workers)
            ucp_worker_destroy(each);
        ucp_cleanup(ucp);
    }
    // A receive of one byte from that rank.
    ucg_request_h start(std::uint32_t rank, std::uint32_t root) {
        ucg_coll_args_t args = test::call_of(UCG_COLL_BCAST, nullptr, &bytes[rank], 1);
        args.root = root;
        ucg_request_h made = nullptr;
        REQUIRE(ucg_request_init(groups[rank], &args, &made) == UCS_OK);
        REQUIRE(ucg_request_start(made) == UCS_OK);
        return made;
    }
    ucs_status_t end(ucg_request_h which) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
        while (ucg_request_test(which) == UCS_INPROGRESS) {
            REQUIRE(std::chrono::steady_clock::now() < limit);
            for (const ucg_context_h each : contexts)
                ucg_progress(each);
        }
        const ucs_status_t status = ucg_request_test(which);
        CHECK(ucg_request_free(which) == UCS_OK);
        return status;
    }

    test::board board;
    ucp_context_h ucp = nullptr;
    std::vector<ucg_context_h> contexts;
    std::vector<ucg_group_h> groups;
    std::vector<ucp_worker_h> workers;
    std::uint8_t bytes[2] = {7, 7};
};

}  // namespace

// Before a fix, the report was dropped, and the other rank waited for ever.
TEST_CASE("a failure report that comes before the group is made is kept for it") {
    const test::env transports("UCX_TLS", "sm,self");
    const test::env latency("UCG_LATENCY", "1us");  // turns the measurement off
    const test::env bandwidth("UCG_BANDWIDTH", "1g");
    apart in;
    // One rank gets the last message of the other one first.
    std::uint32_t first = 1;
    while (ucg_group_test(in.groups[first]) == UCS_INPROGRESS)
        first = 1 - first;
    const std::uint32_t late = 1 - first;
    in.bytes[late] = 0;
    // The message of the second group comes after the failure report.
    const ucg_request_h canceled = in.start(first, first);
    CHECK(ucg_request_cancel(canceled) == UCS_OK);
    const ucg_request_h second = in.start(first, first);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    ucp_tag_recv_info_t info{};
    const auto arrived = [&] {
        const std::uint64_t operation = std::uint64_t{1} << 32U;
        return ucp_tag_probe_nb(in.workers[late], operation, std::uint64_t{0x1ffff} << 32U, 0,
                                &info) != nullptr;
    };
    while (!arrived()) {
        REQUIRE(std::chrono::steady_clock::now() < limit);
        for (const ucp_worker_h each : in.workers)
            ucp_worker_progress(each);
    }
    while (ucg_group_test(in.groups[late]) == UCS_INPROGRESS) {
    }
    CHECK(in.end(canceled) == UCS_ERR_CANCELED);
    CHECK(in.end(in.start(late, first)) == UCS_ERR_CANCELED);
    CHECK(in.end(in.start(late, first)) == UCS_OK);
    CHECK(in.bytes[late] == 7);
    CHECK(in.end(second) == UCS_OK);
}
