// Every algorithm over the rings of one node.
#include "ucg/node/fabric.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <deque>

#include "test/unit/ucg/algo/scene.hpp"
#include "test/unit/ucg/node/group.hpp"
#include "ucg/algo/table.hpp"

using namespace ucg;
using node::rank_t;
using schedule::collective;
using test::ranks_are;
using test::scenario;

namespace {

struct task_of {
    scenario of;
    const schedule::algorithm* by;
};

// Each row of the table; what does not fit is left out.
std::vector<task_of> all_rows(rank_t ranks, std::uint64_t count) {
    std::vector<task_of> all;
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        for (const schedule::algorithm& by : algo::algorithms(static_cast<collective>(i))) {
            scenario of;
            of.what = static_cast<collective>(i);
            of.ranks = ranks;
            of.count = count;
            of.seed = i + count;
            of.root = static_cast<rank_t>(i % ranks);
            of.in_place = all.size() % 3 == 1 && of.what != collective::bcast &&
                          of.what != collective::barrier;
            test::reference described(of);
            if (fits(by, described.call_of(0), {.ranks = ranks}, false)) all.push_back({of, &by});
        }
    }
    return all;
}

std::string run_all(test::node_rank& me, const std::vector<task_of>& all) {
    node::fabric over(me.memory, me.lives, me.rank);
    schedule::frame_pool frames;
    for (const task_of& each : all) {
        test::reference data(each.of);
        schedule::operation operation(over, frames);
        if (operation.init(*each.by, data.call_of(me.rank)) != UCS_OK) return "init";
        operation.start();
        if (over.wait(operation) != UCS_OK)
            return fmt::format("{}: {}: status", each.by->name, text(each.of));
        if (std::string wrong = data.wrong_at(me.rank); !wrong.empty())
            return fmt::format("{}: {}: {}", each.by->name, text(each.of), wrong);
    }
    return {};
}

std::string run_together(test::node_rank& me, const std::vector<task_of>& all) {
    node::fabric over(me.memory, me.lives, me.rank);
    schedule::frame_pool frames;
    std::deque<test::reference> data;
    std::deque<schedule::operation> operations;
    for (const task_of& each : all) {
        data.emplace_back(each.of);
        operations.emplace_back(over, frames);
        if (operations.back().init(*each.by, data.back().call_of(me.rank)) != UCS_OK) return "init";
    }
    for (schedule::operation& each : operations)
        each.start();
    for (schedule::operation& each : operations)
        if (over.wait(each) != UCS_OK) return "status";
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::string wrong = data[i].wrong_at(me.rank); !wrong.empty())
            return fmt::format("{}: {}: {}", all[i].by->name, text(all[i].of), wrong);
    return {};
}

}  // namespace

TEST_CASE("every algorithm runs over the rings of a node") {
    for (const auto what : {ranks_are::threads, ranks_are::processes}) {
        for (const rank_t ranks : {1U, 2U, 3U, 5U, 8U}) {
            std::vector<task_of> all;
            for (const std::uint64_t count : {0U, 3U, 700U})  // up to several rings full
                for (const task_of& each : all_rows(ranks, count))
                    all.push_back(each);
            const std::string wrong =
                run_node(test::small_node(ranks), what, [&](auto& me) { return run_all(me, all); });
            if (!wrong.empty()) FAIL(wrong);
        }
    }
    SUCCEED();
}

TEST_CASE("operations over the rings of a node at the same time") {
    for (const rank_t ranks : {2U, 5U}) {
        std::vector<task_of> all = all_rows(ranks, 300);
        const std::string wrong = run_node(test::small_node(ranks), ranks_are::processes,
                                           [&](auto& me) { return run_together(me, all); });
        if (!wrong.empty()) FAIL(wrong);
    }
    SUCCEED();
}

namespace {

// Goes on until it fails; one of the ranks is killed at one of the starts.
std::string lose_one(test::node_rank& me, const task_of& what, int starts_to_live) {
    node::fabric over(me.memory, me.lives, me.rank);
    schedule::frame_pool frames;
    test::reference data(what.of);
    schedule::operation operation(over, frames);
    if (operation.init(*what.by, data.call_of(me.rank)) != UCS_OK) return "init";
    for (int i = 0; i < 1000; ++i) {
        data.refill();
        operation.start();
        if (me.rank == 1 && i == starts_to_live) ::kill(::getpid(), SIGKILL);
        const ucs_status_t status = over.wait(operation);
        if (status == UCS_ERR_ENDPOINT_TIMEOUT) return {};
        if (status != UCS_OK) return fmt::format("rank {}: {}", me.rank, ucs_status_string(status));
    }
    return fmt::format("rank {} did not notice", me.rank);
}

}  // namespace

TEST_CASE("a rank of a node that is killed ends the operations over its rings") {
    for (const std::uint64_t count : {3U, 700U}) {
        for (const task_of& each : all_rows(4, count)) {
            if (each.of.what != collective::allreduce) continue;
            const std::string wrong = run_node(test::small_node(4), ranks_are::processes,
                                               [&](auto& me) { return lose_one(me, each, 2); });
            INFO(each.by->name);
            CHECK(wrong == "");
        }
    }
}

TEST_CASE("a ring with nonsense ends what is expected of it") {
    scenario of;
    of.what = collective::allreduce;
    of.count = 3;
    const auto body = [&](test::node_rank& me) -> std::string {
        if (me.rank == 1) {
            node::tell(me.memory.ring(1, 0).written, 4000);
            return {};
        }
        node::fabric over(me.memory, me.lives, me.rank);
        schedule::frame_pool frames;
        test::reference data(of);
        schedule::operation operation(over, frames);
        if (operation.init(algo::algorithms(of.what).front(), data.call_of(0)) != UCS_OK)
            return "init";
        operation.start();
        return over.wait(operation) == UCS_ERR_IO_ERROR ? "" : "status";
    };
    CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
}
