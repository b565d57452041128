// Tests of refused arguments: the rank reports them, and the others do not wait for it.
#include <thread>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/core/world.hpp"

namespace {

constexpr std::uint32_t wrong_rank = 2;

// The arguments of four ranks, and their data.
struct data {
    data() : from(4, std::vector<float>(16, 1)), into(from) {}

    ucg_coll_args_t args_of(ucg_coll_t coll, std::uint32_t rank) {
        ucg_coll_args_t made =
            test::call_of(coll, from[rank].data(), into[rank].data(), 4, UCG_TYPE_FP32);
        made.src_counts = made.dst_counts = counts;
        return made;
    }

    std::vector<std::vector<float>> from, into;
    std::uint64_t counts[4] = {4, 4, 4, 4};
};

struct mistake {
    const char* name;
    ucs_status_t status;
    ucg_coll_t coll;
    std::function<void(ucg_coll_args_t&)> make;
};

// Uses collectives in which no rank can end without the others.
std::vector<mistake> mistakes() {
    constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max() / 4;
    return {
        {"no buffer", UCS_ERR_INVALID_PARAM, UCG_COLL_ALLREDUCE, [](auto& a) { a.src = nullptr; }},
        {"one buffer", UCS_ERR_INVALID_PARAM, UCG_COLL_ALLGATHER, [](auto& a) { a.src = a.dst; }},
        {"other memory", UCS_ERR_UNSUPPORTED, UCG_COLL_ALLTOALL,
         [](auto& a) { a.dst_memory = UCS_MEMORY_TYPE_CUDA; }},
        {"no time", UCS_ERR_INVALID_PARAM, UCG_COLL_BARRIER, [](auto& a) { a.timeout = -1; }},
        {"no counts", UCS_ERR_INVALID_PARAM, UCG_COLL_ALLTOALLV,
         [](auto& a) { a.dst_counts = nullptr; }},
        {"nowhere to put blocks", UCS_ERR_INVALID_PARAM, UCG_COLL_ALLGATHERV,
         [](auto& a) { a.dst = nullptr; }},
        {"too much", UCS_ERR_OUT_OF_RANGE, UCG_COLL_ALLREDUCE, [](auto& a) { a.count = huge; }},
        {"no type", UCS_ERR_INVALID_PARAM, UCG_COLL_ALLREDUCE,
         [](auto& a) { a.type = static_cast<ucg_type_t>(99); }},
        {"no operator", UCS_ERR_UNSUPPORTED, UCG_COLL_ALLREDUCE,
         [](auto& a) { a.op = UCG_OP_BITWISE_AND; }},
        {"no collective", UCS_ERR_INVALID_PARAM, UCG_COLL_ALLREDUCE,
         [](auto& a) { a.coll = static_cast<ucg_coll_t>(99); }},
        {"no algorithm", UCS_ERR_NO_ELEM, UCG_COLL_ALLREDUCE,
         [](auto& a) { a.algorithm = "magic"; }},
    };
}

// One request on every rank, of which one was refused.
class requests : public test::requests {
public:
    requests(test::world& in, data& all, const mistake& mistake) : test::requests(in) {
        for (std::uint32_t rank = 0; rank < in.size(); ++rank) {
            ucg_coll_args_t args = all.args_of(mistake.coll, rank);
            if (rank == wrong_rank) mistake.make(args);
            add(rank, args, rank == wrong_rank ? mistake.status : UCS_OK);
        }
    }
    // Returns the status on each rank.
    std::vector<ucs_status_t> run() {
        static_cast<void>(test::requests::run());
        return ends();
    }
};

// Each rank receives what the others sent it, so that none waits for another when it is destroyed.
void settle(test::world& in) {
    for (int turns = 0; turns < 1000; ++turns)
        in.progress();
}

const std::vector<std::string> one_node{"a", "a", "a", "a"}, four_nodes{"a", "b", "c", "d"};

const mistake none{"none", UCS_OK, UCG_COLL_ALLREDUCE, [](auto&) {}};

}  // namespace

TEST_CASE("a call that init refuses on one rank ends with its status on every rank") {
    const auto nodes = test::four_ranks();
    const test::log_capture captured;
    for (const mistake& each : mistakes()) {
        CAPTURE(nodes, each.name);
        test::world in(nodes);
        data buffers;
        CHECK(requests(in, buffers, each).run() == std::vector<ucs_status_t>(4, each.status));
        // If nothing uses the memory of a node, the group remains usable.
        if (nodes == four_nodes || each.coll == UCG_COLL_ALLTOALLV)
            CHECK(requests(in, buffers, none).run() == std::vector<ucs_status_t>(4, UCS_OK));
        settle(in);
        for (ucg_group_h& group : in.groups)
            ucg_group_destroy(std::exchange(group, nullptr));
    }
    CHECK(captured.count("not destroyed") == 0);
}

TEST_CASE("a refused call harms no other call if ranks are compared") {
    const test::every_line all_lines;
    const test::env check("UCG_CHECK", "y");
    const auto nodes = test::four_ranks();
    const test::log_capture captured;
    test::world in(nodes);
    data buffers;
    for (const mistake& each : mistakes()) {
        CAPTURE(nodes, each.name);
        CHECK(requests(in, buffers, each).run() == std::vector<ucs_status_t>(4, each.status));
        CHECK(requests(in, buffers, none).run() == std::vector<ucs_status_t>(4, UCS_OK));
    }
    CHECK(captured.count("rank 2 cannot do what it was asked for") == 3 * mistakes().size());
}

TEST_CASE("a request that was refused need not be started") {
    const test::log_capture captured;
    test::world in(GENERATE(one_node, four_nodes));
    data buffers;
    for (const mistake& each : mistakes()) {
        const requests unused(in, buffers, each);
    }
    CHECK(requests(in, buffers, none).run() == std::vector<ucs_status_t>(4, UCS_OK));
}

TEST_CASE("operations in a node's memory end if a rank refuses another one") {
    const test::log_capture captured;
    test::world in(one_node);
    data buffers;
    requests refused(in, buffers, mistakes().back());
    test::requests waiting(in);
    for (const std::uint32_t rank : {0U, 1U, 3U})
        waiting.add(rank, buffers.args_of(UCG_COLL_ALLTOALLV, rank));
    waiting.start();
    CHECK(refused.run() == std::vector<ucs_status_t>(4, UCS_ERR_NO_ELEM));
    waiting.finish();
    CHECK(waiting.ends() == std::vector<ucs_status_t>(3, UCS_ERR_NO_ELEM));
}

TEST_CASE("refused buffers end the next start, and valid ones serve again") {
    const test::log_capture captured;
    test::world in(four_nodes);
    data buffers;
    test::requests all(in);
    for (std::uint32_t rank = 0; rank < in.size(); ++rank)
        all.add(rank, buffers.args_of(UCG_COLL_ALLREDUCE, rank));
    ucg_request_h const wrong = all.all()[wrong_rank];
    float* const from = buffers.from[wrong_rank].data();
    CHECK(ucg_request_set_buffers(wrong, from, nullptr) == UCS_ERR_INVALID_PARAM);
    static_cast<void>(all.run());
    CHECK(all.ends() == std::vector<ucs_status_t>(4, UCS_ERR_INVALID_PARAM));
    CHECK(ucg_request_set_buffers(wrong, from, buffers.into[wrong_rank].data()) == UCS_OK);
    CHECK(all.run() == UCS_OK);
    CHECK(buffers.into[wrong_rank][0] == 4.0F);
}

// Rank 0 reports to ranks 1 and 2, which are dead and report to no other rank.
TEST_CASE("queries find a failure whose report reached only dead ranks") {
    const test::log_capture captured;
    test::world in(four_nodes);
    data buffers;
    test::requests refused(in), all(in);
    ucg_coll_args_t args = buffers.args_of(UCG_COLL_SCATTERV, 0);
    args.src_counts = nullptr;
    refused.add(0, args, UCS_ERR_INVALID_PARAM);
    all.add(3, buffers.args_of(UCG_COLL_SCATTERV, 3));
    in.freeze(1);
    in.freeze(2);
    refused.start();
    CHECK(all.run() == UCS_ERR_INVALID_PARAM);
    in.thaw(1);
    in.thaw(2);
}

TEST_CASE("a blocking call that one rank refuses returns its status on every rank") {
    const auto nodes = test::four_ranks();
    const bool is_kept = GENERATE(false, true);
    CAPTURE(nodes, is_kept);
    const test::log_capture captured;
    test::world in(nodes);
    data buffers;
    std::vector<ucs_status_t> before(4, UCS_OK), ends(4);
    std::vector<std::thread> ranks;
    for (std::uint32_t rank = 0; rank < in.size(); ++rank)
        ranks.emplace_back([&, rank] {
            const auto sum = [&](const float* from) {
                return ucg_allreduce(in.groups[rank], from, buffers.into[rank].data(), 4,
                                     UCG_TYPE_FP32, UCG_OP_SUM);
            };
            if (is_kept) before[rank] = sum(buffers.from[rank].data());
            ends[rank] = sum(rank == wrong_rank ? nullptr : buffers.from[rank].data());
        });
    for (std::thread& each : ranks)
        each.join();
    settle(in);
    CHECK(before == std::vector<ucs_status_t>(4, UCS_OK));
    CHECK(ends == std::vector<ucs_status_t>(4, UCS_ERR_INVALID_PARAM));
}
