// Tests of the node's engine against a plain reference, with threads and processes as ranks.
#include "ucg/node/engine/engine.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include "test/support/sanitizer.hpp"
#include "test/unit/ucg/algo/simulated_collective.hpp"
#include "test/unit/ucg/node/group.hpp"

using namespace ucg;
using node::rank_t;
using schedule::collective;
using namespace test;

namespace {

constexpr collective all_of_them[] = {
    collective::barrier,    collective::bcast,          collective::reduce,
    collective::allreduce,  collective::allgather,      collective::gather,
    collective::scatter,    collective::alltoall,       collective::reduce_scatter_block,
    collective::allgatherv, collective::reduce_scatter,
};

// Every second copy is non-temporal: the timed ones always count as slow.
constexpr node::slot_writer::limits nontemporal{64, 0, -1, 1, 2, 1};

// Small limits, so that few elements make many segments, and both methods of reducing are used.
node::tuning small_limits(std::size_t direct) {
    node::tuning made;
    made.direct_bytes = direct;
    made.direct_ranks = direct == 0 ? 0 : 2;
    made.segment = 1024;
    made.long_segment = 4 * node::page;
    made.long_bytes = 5000;
    made.few_ranks = direct == 0 ? 2 : 100;
    if (direct == 0) made.writing = nontemporal;
    made.block = 192;
    made.single_copy_bytes = 200;
    made.domain_bytes = 100;
    made.nontemporal_bytes = 4096;
    return made;
}

std::vector<scenario> scenarios(rank_t ranks, std::uint64_t count) {
    std::vector<scenario> all;
    for (const collective type : all_of_them) {
        for (const bool in_place : {false, true}) {
            for (const operators op : {operators::sum, operators::average, operators::affine}) {
                if (op != operators::sum && !traits_of(type).reduces) continue;
                scenario scene;
                scene.kind = type;
                scene.ranks = ranks;
                scene.count = count;
                scene.in_place = in_place && traits_of(type).has_two_buffers;
                scene.op = op;
                scene.root = static_cast<rank_t>((all.size() * 7 + count) % ranks);
                scene.seed = all.size();
                all.push_back(scene);
            }
        }
    }
    return all;
}

using numbers = std::vector<std::uint32_t>;

// Runs all operations one after the other, each once by start() and once by run().
std::string run_all(test::node_rank& me, const std::vector<scenario>& all, std::size_t direct,
                    const numbers& numa) {
    // Covers both ways to move long blocks.
    const bool reads = direct == 0;
    if (reads && !me.peers.can_read_all()) return "the memory of others cannot be read";
    node::engine engine(me.memory, me.lives, me.rank, small_limits(direct),
                        reads ? me.peers : node::local_peers(), numa);
    for (const scenario& scene : all) {
        test::reference data(scene);
        node::operation operation(engine);
        if (operation.init(data.call_of(me.rank)) != UCS_OK) return "init: " + text(scene);
        for (int round = 0; round < 2; ++round) {
            data.refill();
            if (round == 0)
                operation.start();
            else
                engine.run(operation);
            if (engine.wait(operation) != UCS_OK) return "status: " + text(scene);
            if (std::string wrong = data.wrong_at(me.rank); !wrong.empty())
                return text(scene) + ": " + wrong;
        }
    }
    return {};
}

// Starts all operations at the same time.
std::string run_together(test::node_rank& me, const std::vector<scenario>& all) {
    node::engine engine(me.memory, me.lives, me.rank, small_limits(512));
    std::deque<test::reference> data;
    std::deque<node::operation> operations;
    for (const scenario& scene : all) {
        data.emplace_back(scene);
        operations.emplace_back(engine);
        if (operations.back().init(data.back().call_of(me.rank)) != UCS_OK) return "init";
    }
    for (node::operation& each : operations)
        engine.run(each);
    for (node::operation& each : operations)
        if (engine.wait(each) != UCS_OK) return "status";
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::string wrong = data[i].wrong_at(me.rank); !wrong.empty())
            return text(all[i]) + ": " + wrong;
    return {};
}

void check(rank_t ranks, ranks_are kind, const std::vector<std::uint64_t>& counts,
           const numbers& numa = {}) {
    for (const std::size_t direct : {std::size_t{0}, std::size_t{1} << 30}) {
        std::vector<scenario> all;
        for (const std::uint64_t count : counts)
            for (const scenario& scene : scenarios(ranks, count))
                all.push_back(scene);
        node::geometry layout = test::small_node(ranks);
        if (direct == 0) layout.slots = 8;  // rows of 1, 2 and 4
        INFO(ranks << " ranks, direct " << direct);
        REQUIRE(run_node(layout, kind, [&](auto& me) { return run_all(me, all, direct, numa); }) ==
                "");
    }
}

}  // namespace

TEST_CASE("threads: every collective of the node's engine is right", "[threads]") {
    for (const rank_t ranks : {1U, 2U, 3U, 4U, 5U, 8U})
        if (ranks <= 4 || !test::instrumented)
            check(ranks, ranks_are::threads, {0, 1, 7, 31, 1021});
}

TEST_CASE("processes: every collective of the node's engine is right") {
    for (const rank_t ranks : {2U, 3U, test::instrumented ? 5U : 8U})
        check(ranks, ranks_are::processes, {0, 2, 400, 1021});
}

TEST_CASE("node engine: many more ranks than cores") {
    check(19, ranks_are::processes, {5, 130});
}

// Divisions in order and mixed, even and uneven. The last one gives no level at all.
TEST_CASE("every collective of the node's engine is right on several domains", "[threads]") {
    const numbers divisions[] = {{0, 0, 1, 1},    {7, 3, 7, 3},          {0, 0, 1, 1, 1},
                                 {2, 2, 2, 9, 9}, {1, 2, 3, 3, 2, 1, 3}, {0, 0, 1, 1, 2, 2, 3, 3},
                                 {0, 1, 2, 3}};
    for (const numbers& numa : divisions) {
        const auto ranks = static_cast<rank_t>(numa.size());
        if (test::instrumented) {
            // Instrumented runs use few divisions and threads only, because switching between the
            // ranks takes a minute.
            if (ranks <= 5) check(ranks, ranks_are::threads, {1, 2500}, numa);
            continue;
        }
        check(ranks, ranks_are::threads, {0, 1, 31, 1021, 2500}, numa);
        check(ranks, ranks_are::processes, {7, 2500}, numa);
    }
}

TEST_CASE("many operations of the node's engine run at the same time", "[threads]") {
    for (const auto kind : {ranks_are::threads, ranks_are::processes}) {
        for (const rank_t ranks : {2U, 3U, test::instrumented ? 4U : 6U}) {
            std::vector<scenario> all;
            for (const std::uint64_t count : {5U, 1U, 700U, 0U, 64U})
                for (const scenario& scene : scenarios(ranks, count))
                    all.push_back(scene);
            REQUIRE(run_node(test::small_node(ranks), kind,
                             [&](auto& me) { return run_together(me, all); }) == "");
        }
    }
}

namespace {

// Values whose sum depends on the order of additions.
template<class T>
T value(rank_t rank, std::size_t i) {
    std::minstd_rand random(static_cast<unsigned>(rank * 7919 + i + 1));
    random.discard(3);
    return static_cast<T>(static_cast<double>(random()) * (random() % 2 == 0 ? 1e-3 : 1e4));
}

template<class T>
std::string bits_of_sums(test::node_rank& me, reduce::element type, std::size_t direct,
                         std::size_t segment) {
    node::tuning params = small_limits(direct);
    params.segment = segment;
    node::engine engine(me.memory, me.lives, me.rank, params);
    const schedule::kernel_reducer reducer(type, reduce::operation::sum, engine.size());
    for (const std::size_t count : {1U, 3U, 17U, 1000U, 5003U}) {
        std::vector<T> from(count), into(count), expected(count);
        for (std::size_t i = 0; i < count; ++i) {
            from[i] = value<T>(me.rank, i);
            expected[i] = value<T>(0, i);
            for (rank_t rank = 1; rank < engine.size(); ++rank)
                expected[i] = static_cast<T>(expected[i] + value<T>(rank, i));
        }
        schedule::call args;
        args.kind = collective::allreduce;
        args.from = from.data();
        args.into = into.data();
        args.count = count;
        args.element = sizeof(T);
        args.op = &reducer;
        node::operation operation(engine);
        if (operation.init(args) != UCS_OK) return "init";
        operation.start();
        if (engine.wait(operation) != UCS_OK) return "status";
        if (std::memcmp(into.data(), expected.data(), count * sizeof(T)) != 0)
            return fmt::format("other bits of {} at count {}", name(type), count);
    }
    return {};
}

}  // namespace

TEST_CASE("sums of the node's engine have the bits of the rank order for every segmentation",
          "[threads]") {
    for (const std::size_t direct : {std::size_t{0}, std::size_t{1} << 30}) {
        for (const std::size_t segment : {64U, 1000U, 4096U}) {
            const auto body = [&](test::node_rank& me) {
                return bits_of_sums<float>(me, reduce::element::fp32, direct, segment);
            };
            REQUIRE(run_node(test::small_node(5), ranks_are::threads, body) == "");
            const auto other = [&](test::node_rank& me) {
                return bits_of_sums<double>(me, reduce::element::fp64, direct, segment);
            };
            REQUIRE(run_node(test::small_node(4), ranks_are::threads, other) == "");
        }
    }
}

namespace {

// Reduces a vector to some leaders by reduce_scatter and returns it to all by allgatherv, in one
// buffer: each result lies where its block was.
std::string reduce_to_leaders(test::node_rank& me, const std::vector<std::uint64_t>& counts) {
    node::engine engine(me.memory, me.lives, me.rank, small_limits(512));
    std::vector<std::uint64_t> offsets(counts.size());
    std::partial_sum(counts.begin(), counts.end() - 1, offsets.begin() + 1);
    const std::size_t all = offsets.back() + counts.back();
    std::vector<std::uint64_t> data(all), expected(all);
    for (std::size_t i = 0; i < all; ++i) {
        data[i] = me.rank * 1000003 + i;
        for (rank_t rank = 0; rank < engine.size(); ++rank)
            expected[i] += rank * 1000003 + i;
    }
    const schedule::kernel_reducer reducer(reduce::element::uint64, reduce::operation::sum,
                                           engine.size());
    schedule::call args;
    args.kind = collective::reduce_scatter;
    args.from = data.data();
    args.into = data.data() + offsets[me.rank];
    args.counts = counts.data();
    args.element = 8;
    args.op = &reducer;
    node::operation reduces(engine);
    if (reduces.init(args) != UCS_OK) return "init";
    args.kind = collective::allgatherv;
    args.from = nullptr;
    args.into = data.data();
    args.offsets = offsets.data();
    args.in_place = true;
    node::operation gathers(engine);
    if (gathers.init(args) != UCS_OK) return "init";
    reduces.start();
    gathers.start();
    if (engine.wait(gathers) != UCS_OK) return "status";
    return data == expected ? "" : fmt::format("rank {}: wrong sums", me.rank);
}

}  // namespace

TEST_CASE("node engine: some ranks reduce everything and send it to all", "[threads]") {
    const std::vector<std::uint64_t> divisions[] = {{3000, 0, 0, 0},    {0, 0, 0, 1},
                                                    {1500, 1500, 0, 0}, {1, 4000, 2, 700},
                                                    {0, 0, 0, 0},       {5, 0, 1, 2}};
    for (const auto& counts : divisions)
        for (const auto kind : {ranks_are::threads, ranks_are::processes})
            CHECK(run_node(test::small_node(4), kind,
                           [&](auto& me) { return reduce_to_leaders(me, counts); }) == "");
}

TEST_CASE("node engine: two ranks reduce a long vector in parts") {
    const node::geometry layout = test::small_node(2);
    const node::tuning params;
    const schedule::kernel_reducer reducer(reduce::element::fp32, reduce::operation::sum, 2);
    schedule::call args{.kind = collective::allreduce, .element = 4, .op = &reducer};
    node::pattern_memory memory(2);
    for (const bool longer : {false, true}) {
        args.count = params.direct_ranks_bytes / 4 + (longer ? 1 : 0);
        const node::numa_domains domains(2, 0);
        const node::pattern* const made = memory.make(args, domains, layout, params, {});
        REQUIRE(made != nullptr);
        CHECK(made->plan().work_stages == (longer ? 1 : 0));
    }
}

TEST_CASE("node engine: other collectives have no patterns") {
    const node::numa_domains domains(4, 1);
    const std::uint64_t numbers[] = {1, 1, 1, 1};
    const schedule::kernel_reducer reducer(reduce::element::fp32, reduce::operation::sum, 4);
    schedule::call args{.count = 1, .element = 4, .op = &reducer};
    args.counts = args.offsets = args.out_counts = args.out_offsets = numbers;
    node::pattern_memory memory(4);
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        args.kind = static_cast<collective>(i);
        INFO(schedule::name(args.kind));
        const bool made = memory.make(args, domains, test::small_node(4), {}, {}) != nullptr;
        CHECK(made == node::has_patterns(args.kind));
        CHECK(made == (std::ranges::count(all_of_them, args.kind) == 1));
    }
}

TEST_CASE("node engine: one rank with all data uses whole slots") {
    const node::geometry layout = test::small_node(4);
    const node::numa_domains domains(4, 1);
    const std::uint64_t everything[] = {0, 0, 1 << 20, 0};
    const std::uint64_t offsets[] = {0, 0, 0, 0};
    schedule::call args{.counts = everything, .offsets = offsets};
    node::pattern_memory memory(4);
    for (const auto which : {collective::reduce_scatter, collective::allgatherv}) {
        args.kind = which;
        const node::pattern* const made = memory.make(args, domains, layout, {}, {});
        REQUIRE(made != nullptr);
        CHECK(made->plan().segments <= (1U << 20) / layout.slot_bytes + 1);
        CHECK(made->plan().bytes <= layout.slot_bytes);
    }
}

namespace {

struct restarts {
    int left = 0;
    bool failed = false;
};

void start_again(schedule::runnable& ended, void* argument) {
    auto& count = *static_cast<restarts*>(argument);
    count.failed |= ended.status() != UCS_OK;
    if (--count.left > 0) ended.start();
}

}  // namespace

TEST_CASE("node engine: the listener may start an ended operation again", "[threads]") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine engine(me.memory, me.lives, me.rank);
        schedule::call args;
        args.kind = collective::barrier;
        node::operation operation(engine);
        if (operation.init(args) != UCS_OK) return "init";
        restarts count{1000, false};
        operation.on_end(start_again, &count);
        operation.start();
        while (count.left > 0)
            (void)engine.wait(operation);
        return count.failed ? "failed" : "";
    };
    CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
}

TEST_CASE("the node's engine refuses unsupported and invalid calls", "[threads]") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine engine(me.memory, me.lives, me.rank);
        node::operation operation(engine);
        schedule::call args{.kind = collective::bcast, .root = 1};
        if (operation.init(args) != UCS_ERR_INVALID_PARAM) return "an invalid root";
        args.root = 0;
        args.count = ~std::uint64_t{0} / 4;
        args.element = 8;
        if (operation.init(args) != UCS_ERR_OUT_OF_RANGE) return "bytes that overflow";
        args.kind = collective::reduce_scatter;
        if (operation.init(args) != UCS_ERR_INVALID_PARAM) return "no counts";
        const std::uint64_t all = ~std::uint64_t{0} / 8;
        args.counts = &all;
        if (operation.init(args) != UCS_ERR_OUT_OF_RANGE) return "counts that overflow";
        args.kind = collective::allgatherv;
        if (operation.init(args) != UCS_ERR_INVALID_PARAM) return "no offsets";
        args.kind = collective::alltoallv;
        args.count = 0;
        return operation.init(args) == UCS_ERR_UNSUPPORTED ? "" : "alltoallv";
    };
    CHECK(run_node(test::small_node(1), ranks_are::threads, body) == "");
}
