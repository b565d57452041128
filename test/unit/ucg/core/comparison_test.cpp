// Tests of the comparison of arguments, and of the log lines for differences.
#include "ucg/core/comparison.hpp"

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"

namespace {

struct four {
    four() : from(4, std::vector<std::byte>(256)), into(from) {}

    ucg_coll_args_t args_of(ucg_coll_t coll, std::uint32_t rank) {
        ucg_coll_args_t args = test::call_of(coll, from[rank].data(), into[rank].data(), 3);
        args.root = 1;
        args.src_counts = args.dst_counts = counts;
        return args;
    }
    // Returns the status of an operation on each rank, where rank 2 may call another one.
    std::vector<ucs_status_t> run(test::world& in, ucg_coll_t coll,
                                  const std::function<void(ucg_coll_args_t&)>& spoil) {
        test::requests all(in);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            ucg_coll_args_t args = args_of(coll, rank);
            args.element_size = 4;
            if (rank == 2) spoil(args);
            all.add(rank, args);
        }
        static_cast<void>(all.run());
        return all.ends();
    }

    std::vector<std::vector<std::byte>> from, into;
    std::uint64_t counts[4] = {3, 3, 3, 3};
};

const std::vector<ucs_status_t> well(4, UCS_OK), refused(4, UCS_ERR_INVALID_PARAM);

}  // namespace

TEST_CASE("ranks with different counts for each other are named with the counts") {
    const test::env check("UCG_CHECK", "y");
    const auto nodes = test::four_ranks();
    const test::log_capture captured;
    test::world in(nodes);
    four ranks;
    const std::uint64_t other[] = {3, 3, 3, 5};
    const std::uint64_t to_itself[] = {3, 3, 5, 3};
    struct {
        ucg_coll_t coll;
        std::function<void(ucg_coll_args_t&)> spoil;
        const char* line;
    } const all[] = {
        {UCG_COLL_GATHERV, [](auto& a) { a.count = 2; },
         "gatherv: rank 2 gives 2 elements to rank 1, which expects 3"},
        {UCG_COLL_SCATTERV, [](auto& a) { a.count = 4; },
         "scatterv: rank 1 gives 3 elements to rank 2, which expects 4"},
        {UCG_COLL_ALLTOALLV, [&](auto& a) { a.src_counts = other; },
         "alltoallv: rank 2 gives 5 elements to rank 3, which expects 3"},
        {UCG_COLL_ALLTOALLV, [&](auto& a) { a.dst_counts = other; },
         "alltoallv: rank 3 gives 3 elements to rank 2, which expects 5"},
        {UCG_COLL_ALLGATHERV, [&](auto& a) { a.dst_counts = other; },
         "allgatherv: rank 3 gives 3 elements to rank 2, which expects 5"},
        {UCG_COLL_REDUCE_SCATTER, [&](auto& a) { a.dst_counts = other; },
         "reduce_scatter: rank 2 gives 5 elements to rank 3, which expects 3"},
    };
    for (const auto& each : all) {
        CAPTURE(nodes, each.line);
        const std::size_t before = captured.count(each.line);
        CHECK(ranks.run(in, each.coll, each.spoil) == refused);
        CHECK(captured.count(each.line) == before + 2);  // on the two ranks
        CHECK(ranks.run(in, each.coll, [](auto&) {}) == well);
    }
    // A rank whose own counts disagree.
    CHECK(ranks.run(in, UCG_COLL_ALLTOALLV, [&](auto& a) { a.src_counts = to_itself; }) == refused);
    CHECK(captured.count("rank 2 gives 5 elements to rank 2, which expects 3") == 1);
}

TEST_CASE("counts that are ignored in place are not compared") {
    const test::env check("UCG_CHECK", "y");
    const test::log_capture captured;
    test::world in({"a", "b", "c", "d"});
    four ranks;
    const auto at_root = [&](ucg_coll_t coll) {
        test::requests all(in);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            ucg_coll_args_t args = ranks.args_of(coll, rank);
            if (rank == 1) {
                args.count = 77;
                args.flags = UCG_COLL_IN_PLACE;
            }
            all.add(rank, args);
        }
        return all.run();
    };
    CHECK(at_root(UCG_COLL_GATHERV) == UCS_OK);
    CHECK(at_root(UCG_COLL_SCATTERV) == UCS_OK);
}

TEST_CASE("the log shows the difference of calls that do not fit") {
    const test::every_line all_lines;
    const test::env check("UCG_CHECK", "y");
    // Otherwise measured links choose, which may be "linear".
    const test::env rule("UCG_GATHER", "binomial");
    const test::log_capture captured;
    test::world in({"a", "b", "c", "d"});
    four ranks;
    const std::function<void(ucg_coll_args_t&)> all[] = {
        [](auto& a) { a.coll = UCG_COLL_BCAST; },
        [](auto& a) { a.count = 2; },
        [](auto& a) { a.type = UCG_TYPE_UINT16; },
        [](auto& a) { a.type = UCG_TYPE_OPAQUE; },
        [](auto& a) { a.root = 3; },
        [](auto& a) { a.flags = UCG_COLL_DETERMINISTIC; },
        [](auto& a) { a.algorithm = "linear"; },
    };
    for (const auto& each : all) {
        CHECK(ranks.run(in, UCG_COLL_GATHER, each) == refused);
        CHECK(ranks.run(in, UCG_COLL_GATHER, [](auto&) {}) == well);
    }
    CHECK(captured.count("rank 2 calls bcast of 3 uint8, root 1, by ") == 2);
    CHECK(captured.count("rank 2 calls gather of 2 uint8, root 1, by ") == 2);
    CHECK(captured.count("rank 2 calls gather of 3 uint16, root 1, by ") == 2);
    CHECK(captured.count("rank 2 calls gather of 3 opaque of 4 bytes, root 1, by ") == 2);
    CHECK(captured.count("rank 2 calls gather of 3 uint8, root 3, by ") == 2);
    CHECK(captured.count("rank 2 calls gather of 3 uint8, root 1, deterministic, by ") == 2);
    CHECK(captured.count("rank 2 calls gather of 3 uint8, root 1, by linear, rank 0") == 2);
}

TEST_CASE("the log shows a call that is unknown to this version") {
    ucg::signature strange{};
    strange.operation = UCG_COLL_LAST;
    CHECK(ucg::text_of(strange) == "unknown");
    strange.operation = UCG_COLL_ALLREDUCE;
    strange.type = strange.op = 1U << 31U;
    strange.refused = 1;
    CHECK(ucg::text_of(strange) ==
          "allreduce of 0 unknown with unknown, by an algorithm that this version of the library "
          "does not know");
    CHECK(strange.refusal() == UCS_ERR_IO_ERROR);
    strange.refused = INT64_MIN;
    CHECK(strange.refusal() == UCS_ERR_IO_ERROR);
    strange.refused = UCS_ERR_UNSUPPORTED;
    CHECK(strange.refusal() == UCS_ERR_UNSUPPORTED);
}
