// Ranks of a node that die, leave, disagree or write nonsense.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "test/support/log_capture.hpp"
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

TEST_CASE("a rank that leaves in order ends what others expect of it", "[threads]") {
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

TEST_CASE("who is told that an operation failed may destroy it", "[threads]") {
    // The stage in the middle of a reduction in parts finds the failure, and so does the last one
    // of a direct one.
    for (const rank_t direct : {0U, 2U}) {
        const auto body = [&](test::node_rank& me) -> std::string {
            node::tuning limits;
            limits.direct_bytes = 0;
            limits.direct_ranks = direct;
            node::engine by(me.memory, me.lives, me.rank, limits);
            if (me.rank == 0) {
                by.fail(UCS_ERR_CANCELED);
                return {};
            }
            sum_of sum(5000);
            auto operation = std::make_unique<node::operation>(by);
            if (operation->init(sum.what) != UCS_OK) return "init";
            const auto destroy = [](node::operation&, void* argument) {
                static_cast<std::unique_ptr<node::operation>*>(argument)->reset();
            };
            operation->on_end(destroy, &operation);
            operation->start();
            while (operation != nullptr)
                (void)by.progress();
            return by.status() == UCS_ERR_CANCELED ? "" : "the group lives on";
        };
        CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
    }
}

TEST_CASE("ranks that disagree on the arguments are told", "[threads]") {
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

namespace {

struct pair_of_calls {
    schedule::call right, wrong;
    const char* said;  // of the wrong one
};

schedule::call call_of(collective what, std::size_t count, const schedule::reducer* how) {
    schedule::call made;
    made.what = what;
    made.count = count;
    made.element = 8;
    made.how = how;
    return made;
}

}  // namespace

TEST_CASE("whoever disagrees is named, and what it called", "[threads]") {
    const schedule::kernel_reducer sum(reduce::element::fp64, reduce::operation::sum, 2);
    const schedule::kernel_reducer largest(reduce::element::fp64, reduce::operation::maximum, 2);
    const schedule::kernel_reducer of_int(reduce::element::int64, reduce::operation::sum, 2);
    for (const std::size_t count : {1U, 4000U}) {
        const schedule::call right = call_of(collective::allreduce, count, &sum);
        schedule::call from_one = call_of(collective::bcast, count, nullptr);
        schedule::call from_other = from_one;
        from_other.root = 1;
        const std::string elements = fmt::format("of {} elements of 8 bytes", count);
        const pair_of_calls pairs[] = {
            {right, call_of(collective::allreduce, count, &largest),
             "allreduce {}, maximum of fp64"},
            {right, call_of(collective::allreduce, count, &of_int), "allreduce {}, sum of int64"},
            {right, call_of(collective::barrier, 0, nullptr), "barrier"},
            {right, call_of(collective::allgather, count, nullptr), "allgather {}"},
            {from_one, from_other, "bcast {}, root 1"},
        };
        for (const pair_of_calls& each : pairs) {
            const test::log_capture log;
            const auto body = [&](test::node_rank& me) -> std::string {
                std::vector<double> from(3 * count), into(3 * count);
                node::engine by(me.memory, me.lives, me.rank);
                node::operation operation(by);
                schedule::call what = me.rank == 2 ? each.wrong : each.right;
                what.from = from.data();
                what.into = into.data();
                if (operation.init(what) != UCS_OK) return "init";
                // A root needs nothing of others: it goes on until it hears of the failure.
                while (by.status() == UCS_OK) {
                    if (operation.status() != UCS_INPROGRESS) operation.start();
                    (void)by.wait(operation);
                }
                return by.status() == UCS_ERR_INVALID_PARAM ? "" : "status";
            };
            CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
            INFO(log.text());
            const std::string said = fmt::format(fmt::runtime(each.said), elements);
            CHECK((log.count("rank 2 " + said) != 0 || log.count("called " + said) != 0));
        }
    }
}

TEST_CASE("what ranks may differ in is no disagreement", "[threads]") {
    const schedule::kernel_reducer sum(reduce::element::fp64, reduce::operation::sum, 3);
    const auto body = [&](test::node_rank& me) -> std::string {
        node::engine by(me.memory, me.lives, me.rank);
        std::vector<double> from(9, 1), into(9, 1);
        const std::uint64_t counts[] = {1, 3, 2};
        const std::uint64_t forwards[] = {0, 1, 4}, backwards[] = {5, 2, 0};
        const bool odd = me.rank % 2 != 0;
        schedule::call calls[] = {call_of(collective::allreduce, 3, &sum),
                                  call_of(collective::allgatherv, counts[me.rank], nullptr),
                                  call_of(collective::barrier, me.rank, nullptr)};
        for (schedule::call& what : calls) {
            what.counts = counts;
            what.places = odd ? forwards : backwards;
            what.from = from.data();
            what.into = into.data();
            what.in_place = odd;
            if (what.what != collective::allgatherv) what.root = me.rank;
            node::operation operation(by);
            if (operation.init(what) != UCS_OK) return "init";
            operation.start();
            if (by.wait(operation) != UCS_OK) return name(what.what);
        }
        return {};
    };
    CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
}

TEST_CASE("counters that a rank overwrites with nonsense end the operation", "[threads]") {
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

TEST_CASE("a mailbox with nonsense ends the operation", "[threads]") {
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

TEST_CASE("whoever gives up waiting learns for whom, and the others learn of it", "[threads]") {
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

TEST_CASE("a rank that is killed while others read its memory ends the operation on them") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::tuning limits;
        limits.read_bytes = 1;
        node::engine by(me.memory, me.lives, me.rank, limits, me.others);
        std::vector<std::uint64_t> from(3000, me.rank), into(3000);
        schedule::call what;
        what.what = collective::alltoall;
        what.from = from.data();
        what.into = into.data();
        what.count = 1000;
        what.element = 8;
        node::operation operation(by);
        if (operation.init(what) != UCS_OK) return "init";
        ucs_status_t status = UCS_OK;
        for (int round = 0; status == UCS_OK; ++round) {
            operation.start();
            // In the middle: its input is known, and it has not read others'.
            if (me.rank == 2 && round == 20) ::kill(::getpid(), SIGKILL);
            status = by.wait(operation);
            for (rank_t rank = 0; status == UCS_OK && rank < 3; ++rank)
                if (into[rank * 1000 + 999] != rank) return "content";
        }
        // Whoever finds out first: by reading, or by the watch.
        const bool right = status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_ENDPOINT_TIMEOUT;
        return right ? "" : fmt::format("ended with {}", ucs_status_string(status));
    };
    for (int i = 0; i < 5; ++i)
        CHECK(run_node(test::small_node(3), ranks_are::processes, body) == "");
}

TEST_CASE("memory of a process that is another one, or has no such memory, is not read") {
    const std::uint64_t mine = 77;
    const auto address = reinterpret_cast<std::uintptr_t>(&mine);
    std::uint64_t into = 0;
    const node::process_mark own = node::process_mark::own();
    node::process_mark stranger = own, nobody = own, moved = own;
    ++stranger.cookie;
    nobody.pid = 0x7ffffffe;
    moved.cookie_at = 8;
    const node::neighbours all({own, stranger, nobody, moved});
    CHECK(all.read(0, address, &into, sizeof into) == UCS_OK);
    CHECK(into == 77);
    CHECK(all.read(0, 16, &into, sizeof into) == UCS_ERR_IO_ERROR);
    CHECK(all.read(1, address, &into, sizeof into) == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(all.read(2, address, &into, sizeof into) == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(all.read(3, address, &into, sizeof into) == UCS_ERR_IO_ERROR);
    CHECK_FALSE(all.can_read_all());
    CHECK(node::neighbours({own, own}).can_read_all());
}

namespace {

// Rank 0 gives an operation up that rank 1 begins only then.
std::string come_late(test::node_rank& me, std::uint64_t count, std::atomic<bool>& over) {
    node::engine by(me.memory, me.lives, me.rank);
    const schedule::kernel_reducer how(reduce::element::int64, reduce::operation::sum, by.size());
    std::vector<std::int64_t> from(count, 1), into(count);
    schedule::call what;
    what.what = schedule::collective::allreduce;
    what.from = from.data();
    what.into = into.data();
    what.count = count;
    what.element = 8;
    what.how = &how;
    node::operation operation(by);
    if (operation.init(what) != UCS_OK) return "init";
    while (me.rank == 1 && !over)
        std::this_thread::yield();
    operation.start();
    if (me.rank == 0) {
        by.fail(UCS_ERR_TIMED_OUT);
        over = true;
    }
    return by.wait(operation) == UCS_ERR_TIMED_OUT ? "" : fmt::format("rank {}", me.rank);
}

}  // namespace

TEST_CASE("who comes after another rank gave up does not take its part for done", "[threads]") {
    for (const std::uint64_t count : {1U, 100U, 20'000U}) {
        std::atomic<bool> over = false;
        CHECK(run_node(test::small_node(2), ranks_are::threads,
                       [&](auto& me) { return come_late(me, count, over); }) == "");
    }
}

namespace {

// Rank 1 could not make its part of the group.
std::string hear_of_decline(test::node_rank& me) {
    if (me.rank == 1) {
        me.memory.decline(1, UCS_ERR_NO_MEMORY);
        return "";
    }
    node::engine by(me.memory, me.lives, me.rank, {}, me.others, {});
    sum_of sum(1);
    return expect_end(by, sum, UCS_ERR_NO_MEMORY);
}

}  // namespace

TEST_CASE("a rank that takes part in nothing says so, and nobody waits for it") {
    CHECK(run_node(test::small_node(2), ranks_are::threads, hear_of_decline) == "");
    CHECK(run_node(test::small_node(3), ranks_are::processes, hear_of_decline) == "");
}
