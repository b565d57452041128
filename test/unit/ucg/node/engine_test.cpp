// The node's engine against a plain reference: threads and processes.
#include "ucg/node/engine.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include "test/support/sanitizer.hpp"
#include "test/unit/ucg/algo/scene.hpp"
#include "test/unit/ucg/node/group.hpp"

using namespace ucg;
using node::rank_t;
using schedule::collective;
using test::operators;
using test::ranks_are;
using test::scenario;

namespace {

constexpr collective all_of_them[] = {
    collective::barrier,    collective::bcast,          collective::reduce,
    collective::allreduce,  collective::allgather,      collective::gather,
    collective::scatter,    collective::alltoall,       collective::reduce_scatter_block,
    collective::allgatherv, collective::reduce_scatter,
};

bool reduces(collective what) {
    return what == collective::reduce || what == collective::allreduce ||
           what == collective::reduce_scatter_block || what == collective::reduce_scatter;
}

// Every second copy: what the other ones are timed for is always slow.
constexpr node::slot_writer::limits past_the_caches{64, 0, -1, 1, 2, 1};

// Small limits, so that few elements are many segments, and both ways of reducing are taken.
node::tuning small_limits(std::size_t direct) {
    node::tuning made;
    made.direct_bytes = direct;
    made.direct_ranks = direct == 0 ? 0 : 2;
    made.segment = 1024;
    made.long_segment = 4 * node::page;
    made.long_bytes = 5000;
    made.few_ranks = direct == 0 ? 2 : 100;
    if (direct == 0) made.writing = past_the_caches;
    made.block = 192;
    made.read_bytes = 200;
    made.domain_bytes = 100;
    made.streamed_bytes = 4096;
    return made;
}

std::vector<scenario> scenarios(rank_t ranks, std::uint64_t count) {
    std::vector<scenario> all;
    for (const collective what : all_of_them) {
        for (const bool in_place : {false, true}) {
            for (const operators how : {operators::sum, operators::average, operators::affine}) {
                if (how != operators::sum && !reduces(what)) continue;
                scenario of;
                of.what = what;
                of.ranks = ranks;
                of.count = count;
                of.in_place = in_place && what != collective::bcast && what != collective::barrier;
                of.how = how;
                of.root = static_cast<rank_t>((all.size() * 7 + count) % ranks);
                of.seed = all.size();
                all.push_back(of);
            }
        }
    }
    return all;
}

using numbers = std::vector<std::uint32_t>;

// One after the other, each once started and once run.
std::string run_all(test::node_rank& me, const std::vector<scenario>& all, std::size_t direct,
                    const numbers& numa) {
    // Both ways to move long blocks.
    const bool reads = direct == 0;
    if (reads && !me.others.can_read_all()) return "the memory of others cannot be read";
    node::engine by(me.memory, me.lives, me.rank, small_limits(direct),
                    reads ? me.others : node::neighbours(), numa);
    for (const scenario& of : all) {
        test::reference data(of);
        node::operation operation(by);
        if (operation.init(data.call_of(me.rank)) != UCS_OK) return "init: " + text(of);
        for (int round = 0; round < 2; ++round) {
            data.refill();
            if (round == 0)
                operation.start();
            else
                by.run(operation);
            if (by.wait(operation) != UCS_OK) return "status: " + text(of);
            if (std::string wrong = data.wrong_at(me.rank); !wrong.empty())
                return text(of) + ": " + wrong;
        }
    }
    return {};
}

// All at the same time.
std::string run_together(test::node_rank& me, const std::vector<scenario>& all) {
    node::engine by(me.memory, me.lives, me.rank, small_limits(512));
    std::deque<test::reference> data;
    std::deque<node::operation> operations;
    for (const scenario& of : all) {
        data.emplace_back(of);
        operations.emplace_back(by);
        if (operations.back().init(data.back().call_of(me.rank)) != UCS_OK) return "init";
    }
    for (node::operation& each : operations)
        by.run(each);
    for (node::operation& each : operations)
        if (by.wait(each) != UCS_OK) return "status";
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::string wrong = data[i].wrong_at(me.rank); !wrong.empty())
            return text(all[i]) + ": " + wrong;
    return {};
}

void check(rank_t ranks, ranks_are what, const std::vector<std::uint64_t>& counts,
           const numbers& numa = {}) {
    for (const std::size_t direct : {std::size_t{0}, std::size_t{1} << 30}) {
        std::vector<scenario> all;
        for (const std::uint64_t count : counts)
            for (const scenario& of : scenarios(ranks, count))
                all.push_back(of);
        node::geometry like = test::small_node(ranks);
        if (direct == 0) like.slots = 8;  // rows of 1, 2 and 4
        const std::string wrong =
            run_node(like, what, [&](auto& me) { return run_all(me, all, direct, numa); });
        INFO(ranks << " ranks, direct " << direct);
        CHECK(wrong.empty());
        if (!wrong.empty()) FAIL(wrong);
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

TEST_CASE("many more ranks than cores") {
    check(19, ranks_are::processes, {5, 130});
}

// In order and mixed, even and uneven; the last is no level at all.
TEST_CASE("every collective of the node's engine is right on several domains", "[threads]") {
    const numbers divisions[] = {{0, 0, 1, 1},    {7, 3, 7, 3},          {0, 0, 1, 1, 1},
                                 {2, 2, 2, 9, 9}, {1, 2, 3, 3, 2, 1, 3}, {0, 0, 1, 1, 2, 2, 3, 3},
                                 {0, 1, 2, 3}};
    for (const numbers& numa : divisions) {
        const auto ranks = static_cast<rank_t>(numa.size());
        if (test::instrumented) {
            // Even and uneven ones, whose ranks are threads: switching between them takes a minute.
            if (ranks <= 5) check(ranks, ranks_are::threads, {1, 2500}, numa);
            continue;
        }
        check(ranks, ranks_are::threads, {0, 1, 31, 1021, 2500}, numa);
        check(ranks, ranks_are::processes, {7, 2500}, numa);
    }
}

TEST_CASE("many operations of the node's engine under way at the same time", "[threads]") {
    for (const auto what : {ranks_are::threads, ranks_are::processes}) {
        for (const rank_t ranks : {2U, 3U, test::instrumented ? 4U : 6U}) {
            std::vector<scenario> all;
            for (const std::uint64_t count : {5U, 1U, 700U, 0U, 64U})
                for (const scenario& of : scenarios(ranks, count))
                    all.push_back(of);
            const std::string wrong = run_node(test::small_node(ranks), what,
                                               [&](auto& me) { return run_together(me, all); });
            if (!wrong.empty()) FAIL(wrong);
        }
    }
    SUCCEED();
}

namespace {

// Values whose sum depends on the order.
template<class T>
T value(rank_t rank, std::size_t i) {
    std::minstd_rand random(static_cast<unsigned>(rank * 7919 + i + 1));
    random.discard(3);
    return static_cast<T>(static_cast<double>(random()) * (random() % 2 == 0 ? 1e-3 : 1e4));
}

template<class T>
std::string bits_of_sums(test::node_rank& me, reduce::element type, std::size_t direct,
                         std::size_t segment) {
    node::tuning limits = small_limits(direct);
    limits.segment = segment;
    node::engine by(me.memory, me.lives, me.rank, limits);
    const schedule::kernel_reducer how(type, reduce::operation::sum, by.size());
    for (const std::size_t count : {1U, 3U, 17U, 1000U, 5003U}) {
        std::vector<T> from(count), into(count), expected(count);
        for (std::size_t i = 0; i < count; ++i) {
            from[i] = value<T>(me.rank, i);
            expected[i] = value<T>(0, i);
            for (rank_t rank = 1; rank < by.size(); ++rank)
                expected[i] = static_cast<T>(expected[i] + value<T>(rank, i));
        }
        schedule::call what;
        what.what = collective::allreduce;
        what.from = from.data();
        what.into = into.data();
        what.count = count;
        what.element = sizeof(T);
        what.how = &how;
        node::operation operation(by);
        if (operation.init(what) != UCS_OK) return "init";
        operation.start();
        if (by.wait(operation) != UCS_OK) return "status";
        if (std::memcmp(into.data(), expected.data(), count * sizeof(T)) != 0)
            return fmt::format("other bits of {} at count {}", name(type), count);
    }
    return {};
}

}  // namespace

TEST_CASE("sums of the node's engine have the bits of the order of ranks, however they are cut",
          "[threads]") {
    for (const std::size_t direct : {std::size_t{0}, std::size_t{1} << 30}) {
        for (const std::size_t segment : {64U, 1000U, 4096U}) {
            const auto body = [&](test::node_rank& me) {
                std::string wrong = bits_of_sums<float>(me, reduce::element::fp32, direct, segment);
                return wrong;
            };
            const std::string wrong = run_node(test::small_node(5), ranks_are::threads, body);
            if (!wrong.empty()) FAIL(wrong);
            const auto other = [&](test::node_rank& me) {
                return bits_of_sums<double>(me, reduce::element::fp64, direct, segment);
            };
            const std::string also = run_node(test::small_node(4), ranks_are::threads, other);
            if (!also.empty()) FAIL(also);
        }
    }
    SUCCEED();
}

namespace {

// A vector goes to some leaders by reduce_scatter and back to all by allgatherv, in one buffer:
// each result lies where its block did.
std::string reduce_to_leaders(test::node_rank& me, const std::vector<std::uint64_t>& counts) {
    node::engine by(me.memory, me.lives, me.rank, small_limits(512));
    std::vector<std::uint64_t> places(counts.size());
    std::partial_sum(counts.begin(), counts.end() - 1, places.begin() + 1);
    const std::size_t all = places.back() + counts.back();
    std::vector<std::uint64_t> data(all), expected(all);
    for (std::size_t i = 0; i < all; ++i) {
        data[i] = me.rank * 1000003 + i;
        for (rank_t rank = 0; rank < by.size(); ++rank)
            expected[i] += rank * 1000003 + i;
    }
    const schedule::kernel_reducer how(reduce::element::uint64, reduce::operation::sum, by.size());
    schedule::call what;
    what.what = collective::reduce_scatter;
    what.from = data.data();
    what.into = data.data() + places[me.rank];
    what.counts = counts.data();
    what.element = 8;
    what.how = &how;
    node::operation reduces(by);
    if (reduces.init(what) != UCS_OK) return "init";
    what.what = collective::allgatherv;
    what.from = nullptr;
    what.into = data.data();
    what.places = places.data();
    what.in_place = true;
    node::operation gathers(by);
    if (gathers.init(what) != UCS_OK) return "init";
    reduces.start();
    gathers.start();
    if (by.wait(gathers) != UCS_OK) return "status";
    return data == expected ? "" : fmt::format("rank {}: wrong sums", me.rank);
}

}  // namespace

TEST_CASE("some ranks reduce everything and give it to all", "[threads]") {
    const std::vector<std::uint64_t> divisions[] = {{3000, 0, 0, 0},    {0, 0, 0, 1},
                                                    {1500, 1500, 0, 0}, {1, 4000, 2, 700},
                                                    {0, 0, 0, 0},       {5, 0, 1, 2}};
    for (const auto& counts : divisions)
        for (const auto what : {ranks_are::threads, ranks_are::processes})
            CHECK(run_node(test::small_node(4), what,
                           [&](auto& me) { return reduce_to_leaders(me, counts); }) == "");
}

TEST_CASE("a long vector is reduced in parts, also between two ranks") {
    const node::geometry like = test::small_node(2);
    const node::tuning limits;
    const schedule::kernel_reducer how(reduce::element::fp32, reduce::operation::sum, 2);
    schedule::call what;
    what.what = collective::allreduce;
    what.element = 4;
    what.how = &how;
    for (const bool longer : {false, true}) {
        what.count = limits.direct_ranks_bytes / 4 + (longer ? 1 : 0);
        const node::domains who(2, 0);
        const auto made = node::make_pattern(what, who, like, limits, {});
        REQUIRE(made != nullptr);
        CHECK(made->how().works == (longer ? 1 : 0));
    }
}

TEST_CASE("for other collectives there are no patterns") {
    const node::domains who(4, 1);
    const std::uint64_t numbers[] = {1, 1, 1, 1};
    const schedule::kernel_reducer how(reduce::element::fp32, reduce::operation::sum, 4);
    schedule::call what;
    what.count = 1;
    what.element = 4;
    what.how = &how;
    what.counts = what.places = what.out_counts = what.out_places = numbers;
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        what.what = static_cast<collective>(i);
        INFO(schedule::name(what.what));
        const bool made = node::make_pattern(what, who, test::small_node(4), {}, {}) != nullptr;
        CHECK(made == node::has_patterns(what.what));
        CHECK(made == (std::ranges::count(all_of_them, what.what) == 1));
    }
}

TEST_CASE("one rank that has everything uses whole slots") {
    const node::geometry like = test::small_node(4);
    const node::domains who(4, 1);
    const std::uint64_t everything[] = {0, 0, 1 << 20, 0};
    const std::uint64_t places[] = {0, 0, 0, 0};
    schedule::call what;
    what.counts = everything;
    what.places = places;
    for (const auto which : {collective::reduce_scatter, collective::allgatherv}) {
        what.what = which;
        const auto made = node::make_pattern(what, who, like, {}, {});
        REQUIRE(made != nullptr);
        CHECK(made->how().segments <= (1U << 20) / like.slot_bytes + 1);
        CHECK(made->how().bytes <= like.slot_bytes);
    }
}

namespace {

struct restarts {
    int left = 0;
    bool failed = false;
};

void start_again(node::operation& ended, void* argument) {
    auto& count = *static_cast<restarts*>(argument);
    count.failed |= ended.status() != UCS_OK;
    if (--count.left > 0) ended.start();
}

}  // namespace

TEST_CASE("an operation that ended may be started again by whoever is told", "[threads]") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine by(me.memory, me.lives, me.rank);
        schedule::call what;
        what.what = collective::barrier;
        node::operation operation(by);
        if (operation.init(what) != UCS_OK) return "init";
        restarts count{1000, false};
        operation.on_end(start_again, &count);
        operation.start();
        while (count.left > 0)
            (void)by.wait(operation);
        return count.failed ? "failed" : "";
    };
    CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
}

TEST_CASE("the node's engine refuses what it cannot do", "[threads]") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine by(me.memory, me.lives, me.rank);
        node::operation operation(by);
        schedule::call what;
        what.what = collective::bcast;
        what.root = 1;
        if (operation.init(what) != UCS_ERR_INVALID_PARAM) return "a root that is not there";
        what.root = 0;
        what.count = ~std::uint64_t{0} / 4;
        what.element = 8;
        if (operation.init(what) != UCS_ERR_OUT_OF_RANGE) return "bytes that overflow";
        what.what = collective::reduce_scatter;
        if (operation.init(what) != UCS_ERR_INVALID_PARAM) return "no counts";
        const std::uint64_t all = ~std::uint64_t{0} / 8;
        what.counts = &all;
        if (operation.init(what) != UCS_ERR_OUT_OF_RANGE) return "counts that overflow";
        what.what = collective::allgatherv;
        if (operation.init(what) != UCS_ERR_INVALID_PARAM) return "no places";
        what.what = collective::alltoallv;
        what.count = 0;
        return operation.init(what) == UCS_ERR_UNSUPPORTED ? "" : "alltoallv";
    };
    CHECK(run_node(test::small_node(1), ranks_are::threads, body) == "");
}
