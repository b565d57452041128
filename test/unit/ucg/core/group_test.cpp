// Tests of groups: making, splitting, destroying, and failures.
#include <atomic>
#include <cmath>
#include <deque>
#include <thread>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"

using test::barrier;

namespace {

ucg_coll_args_t sum_of(const std::vector<float>& from, std::vector<float>& into) {
    return test::call_of(UCG_COLL_ALLREDUCE, from.data(), into.data(), from.size(), UCG_TYPE_FP32);
}

}  // namespace

TEST_CASE("a request's own progress suffices for it, on a node and between nodes") {
    const auto nodes =
        GENERATE(std::vector<std::string>{"a", "a", "a"}, std::vector<std::string>{"a", "b", "b"});
    test::world in(nodes);
    CHECK(ucg_request_progress(nullptr) == 0);
    for (const std::uint64_t count : {1U, 100'000U}) {
        std::vector<std::vector<std::int64_t>> data(in.size(), std::vector<std::int64_t>(count, 1));
        test::requests sums(in);
        for (std::uint32_t rank = 0; rank < in.size(); ++rank) {
            ucg_coll_args_t args = test::call_of(UCG_COLL_ALLREDUCE, nullptr, data[rank].data(),
                                                 count, UCG_TYPE_INT64);
            args.flags = UCG_COLL_IN_PLACE;
            sums.add(rank, args);
        }
        sums.start();
        unsigned moved = 0;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
        while (!sums.over() && std::chrono::steady_clock::now() < limit)
            for (const ucg_request_h each : sums.all())
                moved += ucg_request_progress(each);
        REQUIRE(sums.over());
        CHECK(moved > 0);
        for (const auto& each : data)
            CHECK(std::ranges::count(each, 3) == static_cast<std::ptrdiff_t>(count));
    }
}

TEST_CASE("a group has the right ranks and nodes") {
    test::world in({"a", "b", "a"});
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        ucg_group_attr_t attr = UCG_GROUP_ATTR_INIT;
        REQUIRE(ucg_group_query(in.groups[rank], &attr) == UCS_OK);
        CHECK(attr.rank == rank);
        CHECK(attr.size == 3);
        CHECK(attr.nodes == 2);
        CHECK(attr.node == (rank == 1 ? 1 : 0));
        CHECK(attr.node_rank == (rank == 2 ? 1 : 0));
        CHECK(attr.node_size == (rank == 1 ? 1 : 2));
        CHECK(ucg_group_rank(in.groups[rank]) == rank);
        CHECK(ucg_group_size(in.groups[rank]) == 3);
        ucg_group_attr_t older{2 * sizeof(std::size_t), 7, 7, 7, 7, 7, 7, 7, 7};
        REQUIRE(ucg_group_query(in.groups[rank], &older) == UCS_OK);
        CHECK(older.size == 3);
        CHECK(older.nodes == 7);
    }
}

TEST_CASE(
    "a group is split into parts that are numbered by keys, and parts work at the same time") {
    test::world in(test::four_ranks());
    const std::uint32_t colors[] = {1, 0, 1, 1};
    const std::uint32_t keys[] = {5, 0, 1, 5};
    std::vector<ucg_group_h> parts(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        REQUIRE(ucg_group_split(in.groups[rank], colors[rank], keys[rank], &parts[rank]) == UCS_OK);
    ucg_group_h second = nullptr;
    CHECK(ucg_group_split(in.groups[0], 0, 0, &second) == UCS_ERR_BUSY);
    REQUIRE(test::world::wait(in, parts) == UCS_OK);
    CHECK(ucg_group_size(parts[1]) == 1);
    CHECK(ucg_group_rank(parts[2]) == 0);
    CHECK(ucg_group_rank(parts[0]) == 1);
    CHECK(ucg_group_rank(parts[3]) == 2);

    std::vector<std::vector<float>> from(4, std::vector<float>(10)), into = from;
    {
        test::requests sums(in, parts), parents(in);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            from[rank].assign(10, static_cast<float>(1U << rank));
            sums.add(rank, sum_of(from[rank], into[rank]));
            parents.add(rank, barrier());
        }
        sums.start();
        CHECK(parents.run() == UCS_OK);
        sums.finish();
        CHECK(sums.ends() == std::vector<ucs_status_t>(4, UCS_OK));
    }
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        CHECK(into[rank][9] == (rank == 1 ? 2.0F : 13.0F));
        ucg_group_destroy(parts[rank]);
    }
}

TEST_CASE("a group is split while its operations run, in another order on each rank") {
    test::world in(test::four_ranks());
    std::vector<std::vector<float>> from(4), into(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        from[rank].assign(5000, static_cast<float>(1U << rank));
        into[rank].resize(5000);
    }
    for (int round = 0; round < 8; ++round) {
        CAPTURE(round);
        std::vector<ucg_group_h> parts(4);
        const auto split = [&](std::uint32_t rank) {
            REQUIRE(ucg_group_split(in.groups[rank], 0, 0, &parts[rank]) == UCS_OK);
        };
        test::requests first(in), second(in);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            first.add(rank, sum_of(from[rank], into[rank]));
            second.add(rank, barrier());
        }
        // Operations are started before, between and after the rounds of the split, which advance
        // between the starts.
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            if (rank % 3 == 0) split(rank);
            for (int turn = 0; turn < round; ++turn)
                in.progress();
            REQUIRE(ucg_request_start(first.all()[rank]) == UCS_OK);
            if (rank % 3 == 1) split(rank);
            in.progress();
            REQUIRE(ucg_request_start(second.all()[rank]) == UCS_OK);
            if (rank % 3 == 2) split(rank);
        }
        REQUIRE(test::world::wait(in, parts) == UCS_OK);
        REQUIRE(in.run_until([&] { return first.over() && second.over(); }));
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            CHECK(ucg_request_test(first.all()[rank]) == UCS_OK);
            CHECK(ucg_request_test(second.all()[rank]) == UCS_OK);
            CHECK(into[rank][4999] == 15.0F);
            CHECK(ucg_group_size(parts[rank]) == 4);
            ucg_group_destroy(parts[rank]);
        }
    }
}

TEST_CASE("a rank may be left out of a split") {
    test::world in({"a", "a", "b"});
    std::vector<ucg_group_h> parts(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank)
        REQUIRE(ucg_group_split(in.groups[rank], rank == 1 ? UCG_SPLIT_NONE : 0, 0, &parts[rank]) ==
                UCS_OK);
    REQUIRE(test::world::wait(in, parts) == UCS_OK);
    CHECK(ucg_group_size(parts[0]) == 2);
    ucg_request_h none = nullptr;
    const ucg_coll_args_t args = barrier();
    CHECK(ucg_request_init(parts[1], &args, &none) == UCS_ERR_INVALID_PARAM);
    for (const ucg_group_h each : parts)
        ucg_group_destroy(each);
}

TEST_CASE("many operations are under way at once and end right in any order of groups and sizes") {
    test::world in(test::four_ranks());
    constexpr std::size_t many = 24;
    std::vector<std::vector<float>> from, into;
    for (std::size_t i = 0; i < many * 4; ++i) {
        from.emplace_back(i / 4 % 3 == 0 ? 3 : 70'000, static_cast<float>(i % 4 + 1));
        into.emplace_back(from.back().size());
    }
    test::requests all(in);
    for (std::size_t i = 0; i < many * 4; ++i)
        all.add(static_cast<std::uint32_t>(i % 4), sum_of(from[i], into[i]));
    CHECK(all.run() == UCS_OK);
    for (const auto& each : into)
        CHECK(each.back() == 10);
}

TEST_CASE(
    "a rank that does not come is named when the time is up, and the operation ends for all") {
    const auto nodes = test::four_ranks();
    CAPTURE(nodes);
    test::log_capture captured;
    test::world in(nodes);
    std::vector<std::vector<float>> from(4, std::vector<float>(100)), into = from;
    test::requests all(in), late(in);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        ucg_coll_args_t args = sum_of(from[rank], into[rank]);
        args.timeout = rank == 1 ? 0.2 : 0;
        (rank == 3 ? late : all).add(rank, args);
    }
    all.start();
    all.finish();
    CHECK(all.ends() == std::vector<ucs_status_t>(3, UCS_ERR_TIMED_OUT));
    CHECK(captured.count("allreduce timed out after 0.2 s on rank 1 of 4") == 1);
    ucg_request_attr_t attr = UCG_REQUEST_ATTR_INIT;
    std::uint32_t missing[4];
    attr.missing = missing;
    attr.missing_max = 4;
    REQUIRE(ucg_request_query(all.all()[1], &attr) == UCS_OK);
    CHECK(attr.missing_count >= 1);
    // A rank that comes too late gets the error.
    CHECK(late.run() == UCS_ERR_TIMED_OUT);
}

TEST_CASE("a canceled operation ends on every rank") {
    test::world in(test::four_ranks());
    std::vector<std::vector<float>> from(4, std::vector<float>(100'000)), into = from;
    test::requests all(in);
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        all.add(rank, sum_of(from[rank], into[rank]));
    for (std::uint32_t rank = 0; rank < 3; ++rank)
        REQUIRE(ucg_request_start(all.all()[rank]) == UCS_OK);
    CHECK(ucg_request_free(all.all()[0]) == UCS_ERR_BUSY);
    CHECK(ucg_request_start(all.all()[0]) == UCS_ERR_BUSY);
    CHECK(ucg_request_set_buffers(all.all()[0], nullptr, nullptr) == UCS_ERR_BUSY);
    REQUIRE(ucg_request_cancel(all.all()[2]) == UCS_OK);
    REQUIRE(ucg_request_start(all.all()[3]) == UCS_OK);
    all.finish();
    CHECK(all.ends() == std::vector<ucs_status_t>(4, UCS_ERR_CANCELED));
}

TEST_CASE("ranks that disagree are named in the debug mode") {
    const test::env check("UCG_CHECK", "y");
    test::log_capture captured;
    test::world in(test::four_ranks());
    std::vector<std::vector<float>> from(4, std::vector<float>(8)), into = from;
    {
        test::requests all(in);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            ucg_coll_args_t args = sum_of(from[rank], into[rank]);
            if (rank == 2) args.op = UCG_OP_MAX;
            all.add(rank, args);
        }
        static_cast<void>(all.run());
        CHECK(all.ends() == std::vector<ucs_status_t>(4, UCS_ERR_INVALID_PARAM));
        CHECK(captured.count("rank 2 calls allreduce of 8 fp32 with maximum, by ") == 2);
    }
    // The group remains usable.
    test::requests all(in);
    for (int round = 0; round < 3; ++round)
        for (std::uint32_t rank = 0; rank < 4; ++rank)
            all.add(rank, sum_of(from[rank], into[rank]));
    CHECK(all.run() == UCS_OK);
}

// Before a fix, rank 1 canceled an operation before it knew that rank 0 called another one. Rank 1
// had given it a number and rank 0 had not, so from then on the ranks waited for different
// operations.
TEST_CASE("a rank that cancels a mismatched operation takes the same numbers as the others") {
    const test::env check("UCG_CHECK", "y");
    const test::log_capture captured;
    const bool near = GENERATE(false, true);
    test::world in(near ? std::vector<std::string>{"a", "a"} : std::vector<std::string>{"a", "b"});
    std::vector<std::vector<float>> from(2, std::vector<float>(8)), into = from;
    const auto add_sums = [&](test::requests& all) {
        for (std::uint32_t rank = 0; rank < 2; ++rank)
            all.add(rank, sum_of(from[rank], into[rank]));
    };
    test::requests first(in);
    add_sums(first);
    REQUIRE(first.run() == UCS_OK);  // makes connections
    {
        test::requests all(in);
        all.add(0, sum_of(from[0], into[0]));
        all.add(1, barrier());
        in.freeze(1);
        all.start();
        REQUIRE(in.run_until([&] { return ucg_request_test(all.all()[0]) != UCS_INPROGRESS; }));
        CHECK(ucg_request_test(all.all()[0]) == UCS_ERR_INVALID_PARAM);
        REQUIRE(ucg_request_cancel(all.all()[1]) == UCS_OK);
        in.thaw(1);
        all.finish();
    }
    test::requests all(in);
    for (int round = 0; round < 3; ++round)
        add_sums(all);
    // If the node's engine has failed, all operations end with that status.
    CHECK(all.run() == (near ? UCS_ERR_CANCELED : UCS_OK));
}

TEST_CASE("one of several compared operations is canceled, and the others are not") {
    const test::env check("UCG_CHECK", "y");
    test::world in(test::four_ranks());
    std::vector<std::vector<float>> from(4, std::vector<float>(8)), into = from;
    test::requests first(in), second(in);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        first.add(rank, sum_of(from[rank], into[rank]));
        second.add(rank, barrier());
    }
    first.start();
    second.start();
    CHECK(ucg_request_cancel(second.all()[2]) == UCS_OK);
    REQUIRE(in.run_until([&] { return first.over() && second.over(); }));
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        CHECK(ucg_request_test(first.all()[rank]) == UCS_OK);
    CHECK(ucg_request_test(second.all()[2]) == UCS_ERR_CANCELED);
}

TEST_CASE("two threads call a group of one rank at the same time") {
    ucg_context_params_t params = UCG_CONTEXT_PARAMS_INIT;
    params.thread_mode = UCS_THREAD_MODE_MULTI;
    ucg_context_h context = nullptr;
    REQUIRE(ucg_context_create(&params, &context) == UCS_OK);
    test::board board(1);
    ucg_group_params_t group_params = UCG_GROUP_PARAMS_INIT;
    group_params.oob = board.oob(0);
    ucg_group_h group = nullptr;
    REQUIRE(ucg_group_create(context, &group_params, &group) == UCS_OK);
    REQUIRE(ucg_group_wait(group) == UCS_OK);
    std::atomic<unsigned> wrong = 0;
    const auto work = [&] {
        for (std::uint32_t i = 0; i < 3000; ++i) {
            // More kinds of calls than the cache keeps.
            std::vector<std::uint32_t> from(1 + i % 24, i), into(from.size());
            const ucs_status_t status = ucg_allreduce(group, from.data(), into.data(), from.size(),
                                                      UCG_TYPE_UINT32, UCG_OP_SUM);
            if (status != UCS_OK || from != into || ucg_group_size(group) != 1) ++wrong;
        }
    };
    std::thread other(work);
    work();
    other.join();
    CHECK(wrong == 0);
    ucg_group_destroy(group);
    ucg_context_destroy(context);
}

TEST_CASE("ranks with different options get no group, and the log names the rank") {
    test::log_capture captured;
    test::board board(3);
    const auto ended = test::try_to_make(board, 3, [](std::uint32_t rank) {
        const test::env segment("UCG_SEGMENT", rank == 1 ? "64k" : "128k");
        const test::env time("UCG_TIMEOUT", rank == 2 ? "10s" : "20s");  // may differ
        ucg_context_h made = nullptr;
        REQUIRE(ucg_context_create(nullptr, &made) == UCS_OK);
        return made;
    });
    CHECK(ended == std::vector<ucs_status_t>(3, UCS_ERR_INVALID_PARAM));
    CHECK(captured.count("rank 1 has other UCG_ options than rank 0") == 2);
}

TEST_CASE("a group that no other rank joins fails in time") {
    test::log_capture captured;
    test::board board(2);
    ucg_context_h context = nullptr;
    REQUIRE(ucg_context_create(nullptr, &context) == UCS_OK);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = board.oob(1);
    params.timeout = 0.05;
    ucg_group_h group = nullptr;
    REQUIRE(ucg_group_create(context, &params, &group) == UCS_OK);
    ucg_request_h request = nullptr;
    const ucg_coll_args_t args = barrier();
    CHECK(ucg_request_init(group, &args, &request) == UCS_ERR_BUSY);
    CHECK(ucg_group_wait(group) == UCS_ERR_TIMED_OUT);
    CHECK(captured.count("was not made in time") == 1);
    CHECK(ucg_group_size(group) == 0);
    CHECK(ucg_group_rank(group) == UINT32_MAX);
    ucg_group_destroy(group);
    ucg_context_destroy(context);
}

// Before a fix, each group tried the next number when the one before was taken on some rank, and
// the groups continued so until no number was left.
TEST_CASE("groups that are made at the same time, in another order on each rank") {
    constexpr std::uint32_t ranks = 3, count = 3;
    test::world in({"a", "a", "a"});
    for (unsigned order = 0; order < 36; ++order) {
        std::deque<test::board> boards;
        for (std::uint32_t i = 0; i < count; ++i)
            boards.emplace_back(ranks);
        std::vector<ucg_group_h> made(ranks * count);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            // All orders of three groups on rank 1, combined with all on rank 2.
            const unsigned which = rank == 0 ? 0 : rank == 1 ? order % 6 : order / 6;
            std::vector<std::uint32_t> turns{0, 1, 2};
            for (unsigned i = 0; i < which; ++i)
                std::ranges::next_permutation(turns);
            for (const std::uint32_t group : turns) {
                ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
                params.oob = boards[group].oob(rank);
                REQUIRE(ucg_group_create(in.contexts[rank], &params, &made[group * ranks + rank]) ==
                        UCS_OK);
            }
        }
        INFO("order " << order);
        CHECK(test::world::wait(in, made) == UCS_OK);
        for (const ucg_group_h each : made)
            ucg_group_destroy(each);
    }
}
