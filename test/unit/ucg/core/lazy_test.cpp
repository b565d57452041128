// Tests of groups that look up addresses when they need them.
#include <numeric>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"

using test::barrier;

namespace {

std::vector<std::string> nodes_of_their_own(std::uint32_t size) {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < size; ++i)
        names.push_back(std::to_string(i));
    return names;
}

// One rank of the group sends to all others, each directly.
ucg_coll_args_t scatter(std::uint32_t root, std::vector<std::uint32_t>& from, std::uint32_t& into) {
    ucg_coll_args_t args = test::call_of(UCG_COLL_SCATTER, from.data(), &into, 1, UCG_TYPE_UINT32);
    args.algorithm = "linear";
    args.root = root;
    return args;
}

ucg_context_h context_on_own_node(std::uint32_t rank) {
    const test::env node("UCG_NODE_ID", std::to_string(rank).c_str());
    ucg_context_h made = nullptr;
    REQUIRE(ucg_context_create(nullptr, &made) == UCS_OK);
    return made;
}

std::uint32_t addresses(ucg_group_h group) {
    ucg_group_attr_t attr = UCG_GROUP_ATTR_INIT;
    REQUIRE(ucg_group_query(group, &attr) == UCS_OK);
    return attr.addresses;
}

// Turns the measurement off, so that nothing is sent before the program does.
struct lazy_options {
    const test::env lazy{"UCG_LAZY_ADDRESSES", "y"};
    const test::env latency{"UCG_LATENCY", "20us"};
    const test::env bandwidth{"UCG_BANDWIDTH", "1GBs"};
};

void run_barrier(test::world& in, const std::vector<ucg_group_h>& groups) {
    test::requests all(in, groups);
    for (std::uint32_t rank = 0; rank < groups.size(); ++rank)
        all.add(rank, barrier());
    CHECK(all.run() == UCS_OK);
}

// Every rank takes part in a scatter of rank 0.
struct scatter_of_all : test::requests {
    explicit scatter_of_all(test::world& in, double timeout_of_root = 0)
        : test::requests(in), from(in.size()), into(in.size()) {
        for (std::uint32_t rank = 0; rank < in.size(); ++rank) {
            ucg_coll_args_t args = scatter(0, from, into[rank]);
            if (rank == 0) args.timeout = timeout_of_root;
            add(rank, args);
        }
    }
    std::vector<std::uint32_t> from, into;
};

}  // namespace

TEST_CASE("lazy addresses: only those of ranks at distances of powers of two are known at first") {
    const lazy_options options;
    test::world in(nodes_of_their_own(11));
    for (const ucg_group_h each : in.groups)
        CHECK(addresses(each) == 4);
    CHECK(in.oob_board().answers() == 44);
    CHECK(in.oob_board().open() == 11);
    // A barrier sends to these ranks, and needs the addresses of the ranks that send to it if those
    // are slow.
    run_barrier(in, in.groups);
    for (const ucg_group_h each : in.groups)
        CHECK(addresses(each) <= 8);
    // One rank sends to all others, which need its address if it is slow.
    std::vector<std::uint32_t> from(11);
    std::iota(from.begin(), from.end(), 100);
    std::vector<std::uint32_t> into(11);
    test::requests all(in);
    for (std::uint32_t rank = 0; rank < 11; ++rank)
        all.add(rank, scatter(3, from, into[rank]));
    CHECK(all.run() == UCS_OK);
    CHECK(into == from);
    for (std::uint32_t rank = 0; rank < 11; ++rank)
        CHECK((rank == 3 ? addresses(in.groups[rank]) == 10 : addresses(in.groups[rank]) <= 9));
}

TEST_CASE(
    "lazy addresses: small groups, those told so and those that cannot exchange all at once") {
    const test::env lazy("UCG_LAZY_ADDRESSES", GENERATE("auto", "n"));
    test::world in({"a", "b", "b"});
    for (const ucg_group_h each : in.groups)
        CHECK(addresses(each) == 3);
    CHECK(in.oob_board().answers() == 0);
    CHECK(in.oob_board().open() == 0);
    test::world local({"a", "a"});
    CHECK(addresses(local.groups[0]) == 0);
}

TEST_CASE("lazy addresses: one rank that cannot publish makes all exchange them") {
    const test::env lazy("UCG_LAZY_ADDRESSES", "y");
    test::board board(3);
    // Rank 1 is like a program compiled before there were lookups.
    const auto adapt = [](ucg_oob_t& oob) {
        if (oob.rank == 1) oob.struct_size = offsetof(ucg_oob_t, publish);
    };
    const auto inspect = [&](ucg_group_h group) {
        CHECK(addresses(group) == 3);
        CHECK(board.open() == 0);
    };
    const auto ended = test::try_to_make(board, 3, context_on_own_node, adapt, inspect);
    CHECK(ended == std::vector<ucs_status_t>(3, UCS_OK));
}

TEST_CASE("lazy addresses: an incomplete set of lookup functions is refused") {
    const test::log_capture log;
    test::board board(1);
    ucg_oob_t mine = *board.oob(0);
    mine.withdraw = nullptr;
    ucg_context_h context = nullptr;
    REQUIRE(ucg_context_create(nullptr, &context) == UCS_OK);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = &mine;
    ucg_group_h group = nullptr;
    CHECK(ucg_group_create(context, &params, &group) == UCS_ERR_INVALID_PARAM);
    ucg_context_destroy(context);
}

TEST_CASE("lazy addresses: splits of splits share them, and outlive their parents") {
    const lazy_options options;
    test::world in(nodes_of_their_own(8));
    const auto split = [&](const std::vector<ucg_group_h>& from, std::uint32_t parts) {
        std::vector<ucg_group_h> made(from.size());
        for (std::uint32_t rank = 0; rank < from.size(); ++rank)
            REQUIRE(ucg_group_split(from[rank], rank % parts,
                                    static_cast<std::uint32_t>(from.size()) - rank,
                                    &made[rank]) == UCS_OK);
        REQUIRE(test::world::wait(in, made) == UCS_OK);
        return made;
    };
    auto halves = split(in.groups, 2);
    auto quarters = split(halves, 4);
    for (auto* const each : {&in.groups, &halves})
        for (ucg_group_h& group : *each) {
            ucg_group_destroy(group);
            group = nullptr;
        }
    CHECK(in.oob_board().open() == 8);
    const unsigned before = in.oob_board().answers();
    run_barrier(in, quarters);
    for (const ucg_group_h each : quarters)
        CHECK(ucg_group_size(each) == 2);
    CHECK(in.oob_board().answers() == before);
    for (const ucg_group_h each : quarters)
        ucg_group_destroy(each);
    CHECK(in.oob_board().open() == 0);
}

TEST_CASE("lazy addresses: a process answers others when it has no group any more") {
    const lazy_options options;
    test::world in(nodes_of_their_own(3));
    in.oob_board().keep_asking(true);
    for (ucg_group_h& each : in.groups) {
        ucg_group_destroy(each);
        each = nullptr;
    }
    const auto turn = [&] {
        for (int i = 0; i < 100; ++i)
            in.progress();
    };
    turn();
    CHECK(in.oob_board().open() == 3);
    in.oob_board().keep_asking(false);
    turn();
    CHECK(in.oob_board().open() == 0);
}

TEST_CASE("lazy addresses: slow lookups delay only operations that need them") {
    const test::env lazy("UCG_LAZY_ADDRESSES", "y");
    test::world in({"a", "b", "c", "d", "e", "e"});
    in.oob_board().delay_answers(GENERATE(1U, 7U, 1000U));
    const auto ranks = in.size();
    for (std::uint32_t root = 0; root < ranks; ++root) {
        std::vector<std::uint32_t> from(ranks), into(ranks);
        std::iota(from.begin(), from.end(), root * 100);
        test::requests all(in);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            all.add(rank, scatter(root, from, into[rank]));
            all.add(rank, barrier());
        }
        CHECK(all.run() == UCS_OK);
        CHECK(into == from);
    }
}

TEST_CASE("lazy addresses: failed lookups fail the operations that need them on all ranks") {
    const lazy_options options;
    const test::log_capture log;
    test::world in(nodes_of_their_own(9));
    in.oob_board().lose_answers();
    run_barrier(in, in.groups);
    scatter_of_all all(in);
    CHECK(all.run() != UCS_OK);
    // Ranks to which nothing could be sent learn of the failure; others may have received their
    // data.
    CHECK(ucg_request_test(all.all()[0]) == UCS_ERR_CONNECTION_RESET);
    for (const std::uint32_t rank : {3U, 5U, 6U, 7U})
        CHECK(ucg_request_test(all.all()[rank]) != UCS_OK);
    CHECK(log.count("cannot be found: ") >= 1);
}

TEST_CASE(
    "lazy addresses: operations that wait for them can be canceled, and the group destroyed") {
    const lazy_options options;
    test::world in(nodes_of_their_own(6));
    in.oob_board().delay_answers(~0U - 1);
    scatter_of_all all(in);
    all.start();
    for (int turn = 0; turn < 1000; ++turn)
        in.progress();
    CHECK(ucg_request_test(all.all()[0]) == UCS_INPROGRESS);
    REQUIRE(ucg_request_cancel(all.all()[0]) == UCS_OK);
    all.finish();
    for (const std::uint32_t rank : {0U, 3U, 5U})
        CHECK(ucg_request_test(all.all()[rank]) == UCS_ERR_CANCELED);
    // A rank that destroys its group waits for connections under way while no other rank makes
    // progress.
    for (int turn = 0; turn < 20000; ++turn)
        in.progress();
}

TEST_CASE("lazy addresses: a time limit ends operations that wait for them") {
    const lazy_options options;
    const test::log_capture log;
    test::world in(nodes_of_their_own(4));
    in.oob_board().delay_answers(~0U - 1);
    scatter_of_all all(in, 0.05);
    CHECK(all.run() == UCS_ERR_TIMED_OUT);
    CHECK(ucg_request_test(all.all()[3]) == UCS_ERR_TIMED_OUT);
    // Operations that do not need the address still work.
    run_barrier(in, in.groups);
}

TEST_CASE("lazy addresses: a group whose ranks cannot be found is made on no rank") {
    const lazy_options options;
    const test::log_capture log;
    test::board board(5);
    board.lose_answers();
    const auto ended = test::try_to_make(board, 5, context_on_own_node);
    CHECK(ended == std::vector<ucs_status_t>(5, UCS_ERR_CONNECTION_RESET));
    CHECK(board.open() == 0);
}
