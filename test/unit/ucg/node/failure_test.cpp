// Ranks of a node that die, leave, disagree or write nonsense.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

#include "test/unit/ucg/node/group.hpp"

using namespace ucg;
using node::rank_t;
using schedule::collective;
using test::ranks_are;

namespace {

// An allreduce of so many numbers. A rank may be made to die in one of its reductions.
struct sum_of {
    std::vector<std::uint64_t> from, into;
    std::unique_ptr<schedule::user_reducer> how;
    schedule::call what;
    int calls_to_live = -1;

    explicit sum_of(std::size_t count) : from(count, 1), into(count) {
        how = std::make_unique<schedule::user_reducer>(add, this, 8, true);
        what.what = collective::allreduce;
        what.from = from.data();
        what.into = into.data();
        what.count = count;
        what.element = 8;
        what.how = how.get();
    }
    static void add(const void* in, void* inout, std::size_t count, void* argument) {
        auto& me = *static_cast<sum_of*>(argument);
        if (me.calls_to_live >= 0 && me.calls_to_live-- == 0) ::kill(::getpid(), SIGKILL);
        for (std::size_t i = 0; i < count; ++i)
            static_cast<std::uint64_t*>(inout)[i] += static_cast<const std::uint64_t*>(in)[i];
    }
};

// Starts it again and again until it fails.
std::string expect_end(node::engine& by, sum_of& sum, ucs_status_t expected) {
    node::operation operation(by);
    if (operation.init(sum.what) != UCS_OK) return "init";
    ucs_status_t status = UCS_OK;
    for (int i = 0; i < 100'000 && status == UCS_OK; ++i) {
        operation.start();
        status = by.wait(operation);
    }
    if (status != expected)
        return fmt::format("rank {} ended with {}", by.rank(), ucs_status_string(status));
    operation.start();  // and so do all later ones, at once
    return operation.status() == expected ? "" : "the group lives on";
}

std::string survive(rank_t ranks, std::size_t count, int calls_to_live, std::size_t direct) {
    return run_node(test::small_node(ranks), ranks_are::processes, [&](test::node_rank& me) {
        node::tuning limits;
        limits.direct_bytes = direct;
        limits.segment = 1024;
        node::engine by(me.memory, me.lives, me.rank, limits);
        sum_of sum(count);
        if (me.rank == ranks - 1) sum.calls_to_live = calls_to_live;
        return expect_end(by, sum, UCS_ERR_CONNECTION_RESET);
    });
}

}  // namespace

TEST_CASE("a rank that is killed at any point ends the operation on all others") {
    for (const std::size_t count : {40U, 1000U})  // each rank has a part of it
        for (const std::size_t direct : {std::size_t{0}, std::size_t{1} << 20})
            for (const int calls : {0, 1, 2, 5, 17})
                CHECK(survive(4, count, calls, direct) == "");
    CHECK(survive(2, 1000, 3, 0) == "");
}

TEST_CASE("a rank that leaves in order ends what others expect of it") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine by(me.memory, me.lives, me.rank);
        if (me.rank == 1) return {};
        sum_of sum(3);
        return expect_end(by, sum, UCS_ERR_CONNECTION_RESET);
    };
    CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
}

TEST_CASE("a rank that leaves after its last operation disturbs nobody") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine by(me.memory, me.lives, me.rank);
        sum_of sum(3000);
        node::operation operation(by);
        if (operation.init(sum.what) != UCS_OK) return "init";
        operation.start();
        if (by.wait(operation) != UCS_OK) return "status";
        return sum.into.back() == by.size() ? "" : "sum";
    };
    for (int i = 0; i < 20; ++i)
        CHECK(run_node(test::small_node(4), ranks_are::processes, body) == "");
}

TEST_CASE("ranks that disagree on the arguments are told") {
    // Both in mailboxes; one in a mailbox and one in slots; both in slots.
    const std::size_t counts[][2] = {{1, 2}, {1, 5000}, {5000, 5001}};
    for (const auto& pair : counts) {
        const auto body = [&](test::node_rank& me) -> std::string {
            node::engine by(me.memory, me.lives, me.rank);
            sum_of sum(pair[me.rank == 2 ? 1 : 0]);
            return expect_end(by, sum, UCS_ERR_INVALID_PARAM);
        };
        CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
    }
}

TEST_CASE("counters that a rank overwrites with nonsense end the operation") {
    std::uint64_t node::control::*const words[] = {&node::control::given, &node::control::taken};
    for (const auto word : words) {
        const auto body = [&](test::node_rank& me) -> std::string {
            node::engine by(me.memory, me.lives, me.rank);
            if (me.rank == 1) {
                node::tell(me.memory.control_of(1).*word, ~std::uint64_t{0} - 5);
                sum_of sum(5000);
                node::operation operation(by);
                if (operation.init(sum.what) != UCS_OK) return "init";
                while (by.status() == UCS_OK) {
                    node::tell(me.memory.control_of(1).*word, ~std::uint64_t{0} - 5);
                    if (operation.status() != UCS_INPROGRESS) operation.start();
                    by.progress();
                    node::tell(me.memory.control_of(1).*word, ~std::uint64_t{0} - 5);
                    ::usleep(10);
                }
                return {};
            }
            sum_of sum(5000);
            return expect_end(by, sum, UCS_ERR_IO_ERROR);
        };
        CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
    }
}

TEST_CASE("a mailbox with nonsense ends the operation") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine by(me.memory, me.lives, me.rank);
        sum_of sum(1);
        if (me.rank == 0) return expect_end(by, sum, UCS_ERR_IO_ERROR);
        node::tell(me.memory.mailbox(1, 0).number, 77);
        while (node::peek(me.memory.control_of(0).failed) == 0)
            ::usleep(10);
        return {};
    };
    CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
}

TEST_CASE("whoever gives up waiting learns for whom, and the others learn of it") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine by(me.memory, me.lives, me.rank);
        sum_of sum(1);
        if (me.rank == 1) {
            while (node::peek(me.memory.control_of(0).failed) == 0)
                ::usleep(10);
            return expect_end(by, sum, UCS_ERR_TIMED_OUT);
        }
        node::operation operation(by);
        if (operation.init(sum.what) != UCS_OK) return "init";
        operation.start();
        for (int i = 0; i < 1000; ++i)
            by.progress();
        if (by.missing() != std::vector<rank_t>{1}) return "missing";
        by.fail(UCS_ERR_TIMED_OUT);
        return operation.status() == UCS_ERR_TIMED_OUT ? "" : "status";
    };
    CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
}
