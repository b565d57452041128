// Tests of every collective through the C interface, over shared memory, messages, and both.
#include <array>

#include "test/unit/ucg/algo/simulated_collective.hpp"
#include "test/unit/ucg/core/world.hpp"

using namespace test;
using namespace ucg::schedule;

namespace {

void chain(const void* in, void* inout, std::uint64_t count, void* arg) {
    const void* const left = in;
    static_cast<const ucg::schedule::reducer*>(arg)->combine(
        inout, std::array<const void*, 2>{left, inout}.data(), 2, count, false);
}

ucg_coll_args_t args_of(const scenario& setup, const call& call, ucg_user_op_t& user) {
    ucg_coll_args_t args = call_of(static_cast<ucg_coll_t>(call.kind), call.from, call.into,
                                   call.count, UCG_TYPE_UINT64);
    if (call.in_place) args.flags = UCG_COLL_IN_PLACE;
    args.root = call.root;
    if (call.kind == collective::scatterv) {
        args.src_counts = call.counts;
        args.src_displs = call.offsets;
    } else {
        args.dst_counts = call.counts;
        args.dst_displs = call.kind == collective::reduce_scatter ? nullptr : call.offsets;
    }
    if (call.kind == collective::alltoallv) {
        args.src_counts = call.out_counts;
        args.src_displs = call.out_offsets;
    }
    if (setup.op == operators::affine) {
        user = UCG_USER_OP_INIT;
        user.function = chain;
        user.arg = const_cast<ucg::schedule::reducer*>(call.op);
        user.commutative = 0;
        args.op = UCG_OP_USER;
        args.user_op = &user;
    }
    return args;
}

std::string run(test::world& in, const scenario& setup) {
    test::reference data(setup);
    std::vector<ucg_user_op_t> users(setup.ranks);
    test::requests all(in);
    for (std::uint32_t rank = 0; rank < setup.ranks; ++rank)
        all.add(rank, args_of(setup, data.call_of(rank), users[rank]));
    for (unsigned start = 0; start < 2; ++start) {
        if (const ucs_status_t status = all.run(); status != UCS_OK)
            return ucs_status_string(status);
        if (std::string wrong = data.wrong(); !wrong.empty()) return wrong;
        data.refill();
    }
    return {};
}

void run_all(test::world& in) {
    for (std::size_t i = 0; i < ucg::schedule::collective_count; ++i) {
        scenario setup{.kind = static_cast<collective>(i), .ranks = in.size()};
        const ucg::schedule::traits kind = traits_of(setup.kind);
        for (const std::uint64_t count : {0U, 1U, 7U, 1000U, 20'011U}) {
            for (const bool in_place : {false, true}) {
                if (in_place && !kind.has_two_buffers) continue;
                for (const operators op : {operators::sum, operators::affine}) {
                    if (op != operators::sum && !kind.reduces) continue;
                    setup.count = count;
                    setup.in_place = in_place;
                    setup.op = op;
                    setup.root = static_cast<ucg::schedule::rank_t>(count % setup.ranks);
                    const std::string wrong = run(in, setup);
                    if (!wrong.empty()) FAIL(text(setup) << ": " << wrong);
                }
            }
        }
    }
    SUCCEED();
}

}  // namespace

TEST_CASE("all collectives are right on one node") {
    const auto nodes = GENERATE(std::vector<std::string>{"a"}, std::vector<std::string>{"a", "a"},
                                std::vector<std::string>{"a", "a", "a", "a", "a"});
    test::world in(nodes);
    run_all(in);
}

// NUMA nodes in order, and mixed, as a level below that of hosts.
TEST_CASE("all collectives are right on several NUMA nodes") {
    const auto nodes =
        GENERATE(std::vector<std::string>{"a/0", "a/0", "a/1", "a/1"},
                 std::vector<std::string>{"a/0", "b/x", "a/1", "b/x", "a/1", "b/y", "a/0", "b/y"});
    const test::env from("UCG_NUMA_LEVEL", "1");
    test::world in(nodes, "tcp,self");
    run_all(in);
}

TEST_CASE("all collectives are right between nodes") {
    const auto transports = GENERATE("sm,self", "tcp,self");
    test::world in({"a", "b", "c"}, transports);
    run_all(in);
}

TEST_CASE("all collectives are right between nodes of several ranks in any order") {
    const auto nodes = GENERATE(std::vector<std::string>{"a", "a", "b", "b"},
                                std::vector<std::string>{"a", "b", "a", "c", "b", "a"});
    test::world in(nodes, "tcp,self");
    run_all(in);
}
