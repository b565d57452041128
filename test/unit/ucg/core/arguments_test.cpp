// Tests of invalid arguments and options, and the status of each.
#include <limits>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"

namespace {

struct bench {
    bench() : in({"a", "a"}) {}

    ucs_status_t init() {
        ucg_request_h made = nullptr;
        const ucs_status_t status = ucg_request_init(in.groups[0], &args, &made);
        CHECK((made != nullptr || args.struct_size == 0));
        CHECK(ucg_request_free(made) == UCS_OK);
        return status;
    }
    const test::every_line all_lines;
    test::log_capture captured;
    test::world in;
    float from[16] = {};
    float into[16] = {};
    ucg_coll_args_t args = test::call_of(UCG_COLL_ALLREDUCE, from, into, 4, UCG_TYPE_FP32);
};

}  // namespace

TEST_CASE_METHOD(bench, "one invalid argument is refused with a line in the log") {
    const struct {
        const char* name;
        ucs_status_t status;
        std::function<void(ucg_coll_args_t&)> spoil;
        const char* line = "";
    } all[] = {
        {"no buffer", UCS_ERR_INVALID_PARAM, [](auto& a) { a.src = nullptr; },
         "allreduce: src is NULL, for 4 elements"},
        {"no output buffer", UCS_ERR_INVALID_PARAM, [](auto& a) { a.dst = nullptr; }},
        {"one buffer for both", UCS_ERR_INVALID_PARAM, [this](auto& a) { a.dst = from + 2; },
         "overlap"},
        {"an unknown collective", UCS_ERR_INVALID_PARAM,
         [](auto& a) { a.coll = static_cast<ucg_coll_t>(77); }},
        {"an unknown type", UCS_ERR_INVALID_PARAM,
         [](auto& a) { a.type = static_cast<ucg_type_t>(-3); }},
        {"an unknown operation", UCS_ERR_INVALID_PARAM,
         [](auto& a) { a.op = static_cast<ucg_op_t>(1000); }},
        {"an operation that is not defined for the type", UCS_ERR_UNSUPPORTED,
         [](auto& a) { a.op = UCG_OP_BITWISE_AND; }, "bitwise_and is not defined for fp32"},
        {"an average of a scan", UCS_ERR_UNSUPPORTED,
         [](auto& a) {
             a.coll = UCG_COLL_SCAN;
             a.op = UCG_OP_AVERAGE;
         }},
        {"a missing user operator", UCS_ERR_INVALID_PARAM, [](auto& a) { a.op = UCG_OP_USER; }},
        {"a root outside of the group", UCS_ERR_INVALID_PARAM,
         [](auto& a) {
             a.coll = UCG_COLL_REDUCE;
             a.root = 2;
         }},
        {"device memory", UCS_ERR_UNSUPPORTED,
         [](auto& a) { a.src_memory = UCS_MEMORY_TYPE_CUDA; }},
        {"unknown flags", UCS_ERR_UNSUPPORTED, [](auto& a) { a.flags = 1U << 20U; }},
        {"an opaque type without a size", UCS_ERR_INVALID_PARAM,
         [](auto& a) { a.type = UCG_TYPE_OPAQUE; }},
        {"an invalid timeout", UCS_ERR_INVALID_PARAM,
         [](auto& a) { a.timeout = std::numeric_limits<double>::quiet_NaN(); }},
        {"an unknown algorithm", UCS_ERR_NO_ELEM, [](auto& a) { a.algorithm = "magic"; }},
        {"uninitialised arguments", UCS_ERR_INVALID_PARAM, [](auto& a) { a.struct_size = 0; }},
    };
    CHECK(init() == UCS_OK);
    const ucg_coll_args_t valid = args;
    for (const auto& each : all) {
        INFO(each.name);
        captured.clear();
        args = valid;
        each.spoil(args);
        CHECK(init() == each.status);
        CHECK(captured.size() >= 1);
        if (*each.line != 0) CHECK(captured.count(each.line) == 1);
    }
}

TEST_CASE_METHOD(bench, "invalid counts and blocks are refused with a line in the log") {
    SECTION("the count is ignored if an array has the counts") {
        const std::uint64_t counts[] = {2, 2};
        args.dst_counts = counts;
        args.count = 1000;
        args.coll = UCG_COLL_REDUCE_SCATTER;
        args.src = from + 8;
        args.dst = from;
        CHECK(init() == UCS_OK);
        args.coll = UCG_COLL_ALLGATHERV;
        args.src = from;
        args.dst = from + 8;
        CHECK(init() == UCS_OK);
        return;
    }
    SECTION("counts that overflow") {
        args.count = std::numeric_limits<std::uint64_t>::max() / 2;
        CHECK(init() == UCS_ERR_OUT_OF_RANGE);
        args.coll = UCG_COLL_ALLGATHER;
        args.count = std::uint64_t{1} << 62;
        CHECK(init() == UCS_ERR_OUT_OF_RANGE);
        const std::uint64_t counts[] = {std::uint64_t{1} << 62, std::uint64_t{1} << 62};
        args.coll = UCG_COLL_ALLGATHERV;
        args.dst_counts = counts;
        CHECK(init() == UCS_ERR_OUT_OF_RANGE);
    }
    SECTION("counts that overflow only at the root, on another rank") {
        args.count = std::uint64_t{1} << 60;
        args.root = 1;
        for (const ucg_coll_t each : {UCG_COLL_GATHER, UCG_COLL_SCATTER}) {
            args.coll = each;
            CHECK(init() == UCS_ERR_OUT_OF_RANGE);
        }
    }
    SECTION("no buffer for the blocks of other ranks, in place") {
        const std::uint64_t counts[] = {0, 4};
        args.coll = UCG_COLL_REDUCE_SCATTER;
        args.flags = UCG_COLL_IN_PLACE;
        args.dst_counts = counts;
        args.dst = nullptr;
        CHECK(init() == UCS_ERR_INVALID_PARAM);
        CHECK(captured.count("reduce_scatter: dst is NULL, for 4 elements") == 1);
    }
    SECTION("overlapping blocks in dst") {
        const std::uint64_t counts[] = {3, 2}, same[] = {0, 0}, by_one[] = {1, 0};
        args.dst_counts = args.src_counts = counts;
        for (const ucg_coll_t each : {UCG_COLL_ALLGATHERV, UCG_COLL_GATHERV, UCG_COLL_ALLTOALLV}) {
            INFO(ucg_coll_name(each));
            args.coll = each;
            args.count = 3;
            args.dst_displs = same;
            CHECK(init() == UCS_ERR_INVALID_PARAM);
            args.dst_displs = by_one;
            CHECK(init() == UCS_ERR_INVALID_PARAM);
        }
        CHECK(captured.count("the blocks of ranks 0 and 1 in dst overlap: 3 elements from 0 on and "
                             "2 from 0 on") == 3);
        CHECK(captured.count("allgatherv: the blocks of ranks 1 and 0 in dst overlap: 2 elements "
                             "from 0 on and 3 from 1 on") == 1);
    }
    SECTION("disjoint blocks in any order, and overlapping blocks that are only read") {
        const std::uint64_t counts[] = {3, 2}, turned[] = {2, 0}, same[] = {0, 0};
        const std::uint64_t one_empty[] = {3, 0}, inside[] = {0, 1};
        args.count = 3;
        args.src_counts = counts;
        args.src_displs = same;
        for (const ucg_coll_t each : {UCG_COLL_ALLGATHERV, UCG_COLL_GATHERV, UCG_COLL_ALLTOALLV}) {
            INFO(ucg_coll_name(each));
            args.coll = each;
            args.dst_counts = counts;
            args.dst_displs = turned;
            CHECK(init() == UCS_OK);
            args.dst_counts = one_empty;
            args.dst_displs = inside;
            CHECK(init() == UCS_OK);
        }
        args.coll = UCG_COLL_SCATTERV;
        CHECK(init() == UCS_OK);
        args.coll = UCG_COLL_GATHERV;
        args.root = 1;  // this rank does not use the offsets
        args.dst_counts = counts;
        args.dst_displs = same;
        CHECK(init() == UCS_OK);
        return;
    }
    SECTION("missing counts") {
        args.coll = UCG_COLL_REDUCE_SCATTER;
        CHECK(init() == UCS_ERR_INVALID_PARAM);
        args.coll = UCG_COLL_ALLTOALLV;
        CHECK(init() == UCS_ERR_INVALID_PARAM);
    }
    SECTION("no arguments") {
        auto* made = reinterpret_cast<ucg_request_h>(this);
        CHECK(ucg_request_init(in.groups[0], nullptr, &made) == UCS_ERR_INVALID_PARAM);
        CHECK(made == nullptr);
        made = reinterpret_cast<ucg_request_h>(this);
        CHECK(ucg_request_init(nullptr, &args, &made) == UCS_ERR_INVALID_PARAM);
        CHECK(made == nullptr);
        CHECK(ucg_request_init(in.groups[0], &args, nullptr) == UCS_ERR_INVALID_PARAM);
    }
    CHECK(captured.size() >= 1);
}

namespace {

struct choice {
    std::string algorithm, reason;
};

choice choice_of(ucg_group_h group, const ucg_coll_args_t& args) {
    ucg_request_h made = nullptr;
    REQUIRE(ucg_request_init(group, &args, &made) == UCS_OK);
    ucg_request_attr_t attr = UCG_REQUEST_ATTR_INIT;
    REQUIRE(ucg_request_query(made, &attr) == UCS_OK);
    const choice found{attr.algorithm, attr.reason};
    CHECK(ucg_request_free(made) == UCS_OK);
    return found;
}

}  // namespace

TEST_CASE_METHOD(bench, "program and environment can choose the algorithm") {
    args.algorithm = "ring";
    const choice of_program = choice_of(in.groups[0], args);
    CHECK(of_program.algorithm == "ring");
    CHECK(of_program.reason == "asked for by the program");

    const test::env rule("UCG_ALLREDUCE", "0-8:ring,8-1k@2-3:rabenseifner");
    test::world other({"a", "a"});
    args.algorithm = nullptr;
    CHECK(choice_of(other.groups[0], args).algorithm == "rabenseifner");
}

TEST_CASE("the reason describes the method of the node's engine") {
    const test::env level("UCG_NUMA_LEVEL", "1m");
    const test::env slot("UCG_NODE_SLOT_SIZE", "128k");
    test::world two({"a", "a"}), four({"a/0", "a/0", "a/1", "a/1"});
    std::vector<float> from(2 << 20), into(2 << 20);
    const auto reason = [&](test::world& in, ucg_coll_t coll, std::uint64_t bytes) {
        const ucg_coll_args_t args =
            test::call_of(coll, from.data(), into.data(), bytes / sizeof(float), UCG_TYPE_FP32);
        return choice_of(in.groups[0], args).reason;
    };
    const std::string engine = "all ranks share the memory of one node; ";
    CHECK(reason(two, UCG_COLL_ALLREDUCE, 8) == engine + "direct, in mailboxes");
    CHECK(reason(two, UCG_COLL_ALLREDUCE, 64 << 10) == engine + "direct, 2 segments");
    CHECK(reason(two, UCG_COLL_ALLREDUCE, 512 << 10) == engine + "direct, 16 segments");
    CHECK(reason(two, UCG_COLL_ALLREDUCE, 8 << 20) == engine + "in parts, 64 segments");
    CHECK(reason(two, UCG_COLL_ALLGATHER, 64) == engine + "copied, in mailboxes");
    CHECK(reason(four, UCG_COLL_ALLREDUCE, 64 << 10) == engine + "in parts");
    CHECK(reason(four, UCG_COLL_ALLREDUCE, 4 << 20) == engine + "by NUMA node, 64 segments");
    CHECK(reason(four, UCG_COLL_BCAST, 64 << 10) == engine + "copied");
    CHECK(reason(four, UCG_COLL_BCAST, 2 << 20) == engine + "by NUMA node, 16 segments");
    CHECK(reason(two, UCG_COLL_BARRIER, 0) == engine + "one meeting");
}

TEST_CASE("invalid options are refused") {
    test::log_capture captured;
    ucg_context_h context = nullptr;
    SECTION("rules") {
        const test::env rule("UCG_BCAST", "8k-4k:ring");
        CHECK(ucg_context_create(nullptr, &context) == UCS_ERR_INVALID_PARAM);
        CHECK(captured.count("the rules for bcast cannot be read") == 1);
    }
    SECTION("sizes") {
        const test::env size("UCG_NODE_SLOT_SIZE", "5000");
        CHECK(ucg_context_create(nullptr, &context) == UCS_ERR_INVALID_PARAM);
    }
    SECTION("a time") {
        const test::env time("UCG_TIMEOUT", "soon");
        CHECK(ucg_context_create(nullptr, &context) == UCS_ERR_INVALID_PARAM);
        CHECK(captured.count("UCG_TIMEOUT: \"soon\"") == 1);
    }
    SECTION("parameters") {
        ucg_context_params_t params = UCG_CONTEXT_PARAMS_INIT;
        params.thread_mode = UCS_THREAD_MODE_LAST;
        CHECK(ucg_context_create(&params, &context) == UCS_ERR_INVALID_PARAM);
        CHECK(ucg_context_create(nullptr, nullptr) == UCS_ERR_INVALID_PARAM);
    }
}
