// Tests of the node's engine with ranks that die, leave, disagree or write invalid words.
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

// An allreduce of `count` numbers. A rank may be made to die in one of its reductions.
struct sum_of {
    std::vector<std::uint64_t> from, into;
    std::unique_ptr<schedule::user_reducer> reducer;
    schedule::call args;
    int calls_to_live = -1;

    explicit sum_of(std::size_t count) : from(count, 1), into(count) {
        reducer = std::make_unique<schedule::user_reducer>(add, this, 8, true);
        args.kind = collective::allreduce;
        args.from = from.data();
        args.into = into.data();
        args.count = count;
        args.element = 8;
        args.op = reducer.get();
    }
    static void add(const void* in, void* inout, std::size_t count, void* argument) {
        auto& me = *static_cast<sum_of*>(argument);
        if (me.calls_to_live >= 0 && me.calls_to_live-- == 0) ::kill(::getpid(), SIGKILL);
        for (std::size_t i = 0; i < count; ++i)
            static_cast<std::uint64_t*>(inout)[i] += static_cast<const std::uint64_t*>(in)[i];
    }
};

// Repeats the operation until it fails.
std::string run_until_failed(node::engine& engine, sum_of& sum, ucs_status_t expected) {
    node::operation operation(engine);
    if (operation.init(sum.args) != UCS_OK) return "init";
    ucs_status_t status = UCS_OK;
    for (int i = 0; i < 100'000 && status == UCS_OK; ++i) {
        operation.start();
        status = engine.wait(operation);
    }
    if (status != expected)
        return fmt::format("rank {} ended with {}", engine.rank(), ucs_status_string(status));
    operation.start();  // all later ones end at once, too
    return operation.status() == expected ? "" : "the group has not failed";
}

std::string run_with_killed_rank(rank_t ranks, std::size_t count, int calls_to_live,
                                 std::size_t direct) {
    return run_node(test::small_node(ranks), ranks_are::processes, [&](test::node_rank& me) {
        node::tuning params;
        params.direct_bytes = direct;
        params.segment = 1024;
        node::engine engine(me.memory, me.lives, me.rank, params);
        sum_of sum(count);
        if (me.rank == ranks - 1) sum.calls_to_live = calls_to_live;
        return run_until_failed(engine, sum, UCS_ERR_CONNECTION_RESET);
    });
}

}  // namespace

TEST_CASE("a rank that is killed at any point ends the operation on all others") {
    for (const std::size_t count : {40U, 1000U})  // each rank reduces a part
        for (const std::size_t direct : {std::size_t{0}, std::size_t{1} << 20})
            for (const int calls : {0, 1, 2, 5, 17})
                CHECK(run_with_killed_rank(4, count, calls, direct) == "");
    CHECK(run_with_killed_rank(2, 1000, 3, 0) == "");
}

TEST_CASE("a rank that leaves in order ends the operations that need it", "[threads]") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine engine(me.memory, me.lives, me.rank);
        if (me.rank == 1) return {};
        sum_of sum(3);
        return run_until_failed(engine, sum, UCS_ERR_CONNECTION_RESET);
    };
    CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
}

TEST_CASE("a rank that leaves after its last operation causes no error") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine engine(me.memory, me.lives, me.rank);
        sum_of sum(3000);
        node::operation operation(engine);
        if (operation.init(sum.args) != UCS_OK) return "init";
        operation.start();
        if (engine.wait(operation) != UCS_OK) return "status";
        return sum.into.back() == engine.size() ? "" : "sum";
    };
    for (int i = 0; i < 20; ++i)
        CHECK(run_node(test::small_node(4), ranks_are::processes, body) == "");
}

TEST_CASE("the listener of a failed operation may destroy it", "[threads]") {
    // In a reduction in parts the work stage finds the failure, in a direct one the last stage.
    for (const rank_t direct : {0U, 2U}) {
        const auto body = [&](test::node_rank& me) -> std::string {
            node::tuning params;
            params.direct_bytes = 0;
            params.direct_ranks = direct;
            node::engine engine(me.memory, me.lives, me.rank, params);
            if (me.rank == 0) {
                engine.fail(UCS_ERR_CANCELED);
                return {};
            }
            sum_of sum(5000);
            auto operation = std::make_unique<node::operation>(engine);
            if (operation->init(sum.args) != UCS_OK) return "init";
            const auto destroy = [](schedule::runnable&, void* argument) {
                static_cast<std::unique_ptr<node::operation>*>(argument)->reset();
            };
            operation->on_end(destroy, &operation);
            operation->start();
            while (operation != nullptr)
                (void)engine.progress();
            return engine.status() == UCS_ERR_CANCELED ? "" : "the group has not failed";
        };
        CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
    }
}

TEST_CASE("calls with different arguments fail on all ranks", "[threads]") {
    // The calls are both in mailboxes, one in a mailbox and one in slots, and both in slots.
    const std::size_t counts[][2] = {{1, 2}, {1, 5000}, {5000, 5001}};
    for (const auto& pair : counts) {
        const auto body = [&](test::node_rank& me) -> std::string {
            node::engine engine(me.memory, me.lives, me.rank);
            sum_of sum(pair[me.rank == 2 ? 1 : 0]);
            return run_until_failed(engine, sum, UCS_ERR_INVALID_PARAM);
        };
        CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
    }
}

namespace {

struct pair_of_calls {
    schedule::call right, wrong;
    const char* text;  // text of the wrong call
};

schedule::call call_of(collective type, std::size_t count, const schedule::reducer* reducer) {
    schedule::call made{.kind = type, .count = count, .element = 8, .op = reducer};
    return made;
}

}  // namespace

TEST_CASE("the log names the rank with other arguments and its call", "[threads]") {
    const schedule::kernel_reducer sum(reduce::element::fp64, reduce::operation::sum, 2);
    const schedule::kernel_reducer largest(reduce::element::fp64, reduce::operation::maximum, 2);
    const schedule::kernel_reducer sum_of_int(reduce::element::int64, reduce::operation::sum, 2);
    for (const std::size_t count : {1U, 4000U}) {
        const schedule::call right = call_of(collective::allreduce, count, &sum);
        schedule::call from_one = call_of(collective::bcast, count, nullptr);
        schedule::call from_other = from_one;
        from_other.root = 1;
        const std::string elements = fmt::format("of {} elements of 8 bytes", count);
        const pair_of_calls pairs[] = {
            {right, call_of(collective::allreduce, count, &largest),
             "allreduce {}, maximum of fp64"},
            {right, call_of(collective::allreduce, count, &sum_of_int),
             "allreduce {}, sum of int64"},
            {right, call_of(collective::barrier, 0, nullptr), "barrier"},
            {right, call_of(collective::allgather, count, nullptr), "allgather {}"},
            {from_one, from_other, "bcast {}, root 1"},
        };
        for (const pair_of_calls& each : pairs) {
            const test::log_capture log;
            const auto body = [&](test::node_rank& me) -> std::string {
                std::vector<double> from(3 * count), into(3 * count);
                node::engine engine(me.memory, me.lives, me.rank);
                node::operation operation(engine);
                schedule::call args = me.rank == 2 ? each.wrong : each.right;
                args.from = from.data();
                args.into = into.data();
                if (operation.init(args) != UCS_OK) return "init";
                // A root needs nothing from others, so it goes on until it learns of the failure.
                while (engine.status() == UCS_OK) {
                    if (operation.status() != UCS_INPROGRESS) operation.start();
                    (void)engine.wait(operation);
                }
                return engine.status() == UCS_ERR_INVALID_PARAM ? "" : "status";
            };
            CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
            INFO(log.text());
            const std::string call_text = fmt::format(fmt::runtime(each.text), elements);
            CHECK((log.count("rank 2 " + call_text) != 0 || log.count("called " + call_text) != 0));
        }
    }
}

TEST_CASE("permitted differences between calls cause no failure", "[threads]") {
    const schedule::kernel_reducer sum(reduce::element::fp64, reduce::operation::sum, 3);
    const auto body = [&](test::node_rank& me) -> std::string {
        node::engine engine(me.memory, me.lives, me.rank);
        std::vector<double> from(9, 1), into(9, 1);
        const std::uint64_t counts[] = {1, 3, 2};
        const std::uint64_t forwards[] = {0, 1, 4}, backwards[] = {5, 2, 0};
        const bool odd = me.rank % 2 != 0;
        schedule::call calls[] = {call_of(collective::allreduce, 3, &sum),
                                  call_of(collective::allgatherv, counts[me.rank], nullptr),
                                  call_of(collective::barrier, me.rank, nullptr)};
        for (schedule::call& args : calls) {
            args.counts = counts;
            args.offsets = odd ? forwards : backwards;
            args.from = from.data();
            args.into = into.data();
            args.in_place = odd;
            if (args.kind != collective::allgatherv) args.root = me.rank;
            node::operation operation(engine);
            if (operation.init(args) != UCS_OK) return "init";
            operation.start();
            if (engine.wait(operation) != UCS_OK) return name(args.kind);
        }
        return {};
    };
    CHECK(run_node(test::small_node(3), ranks_are::threads, body) == "");
}

TEST_CASE("invalid counters of a rank end the operation", "[threads]") {
    std::uint64_t node::control::*const words[] = {&node::control::given, &node::control::taken};
    for (const auto word : words) {
        const auto body = [&](test::node_rank& me) -> std::string {
            node::engine engine(me.memory, me.lives, me.rank);
            if (me.rank == 1) {
                node::store_release(me.memory.control_of(1).*word, ~std::uint64_t{0} - 5);
                sum_of sum(5000);
                node::operation operation(engine);
                if (operation.init(sum.args) != UCS_OK) return "init";
                while (engine.status() == UCS_OK) {
                    node::store_release(me.memory.control_of(1).*word, ~std::uint64_t{0} - 5);
                    if (operation.status() != UCS_INPROGRESS) operation.start();
                    engine.progress();
                    node::store_release(me.memory.control_of(1).*word, ~std::uint64_t{0} - 5);
                    ::usleep(10);
                }
                return {};
            }
            sum_of sum(5000);
            return run_until_failed(engine, sum, UCS_ERR_IO_ERROR);
        };
        CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
    }
}

TEST_CASE("an invalid mailbox ends the operation", "[threads]") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine engine(me.memory, me.lives, me.rank);
        sum_of sum(1);
        if (me.rank == 0) return run_until_failed(engine, sum, UCS_ERR_IO_ERROR);
        node::store_release(me.memory.mailbox(1, 0).number, 77);
        while (node::load_relaxed(me.memory.control_of(0).failed) == 0)
            ::usleep(10);
        return {};
    };
    CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
}

TEST_CASE("a rank that times out learns which ranks are missing, and the others fail",
          "[threads]") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::engine engine(me.memory, me.lives, me.rank);
        sum_of sum(1);
        if (me.rank == 1) {
            while (node::load_relaxed(me.memory.control_of(0).failed) == 0)
                ::usleep(10);
            return run_until_failed(engine, sum, UCS_ERR_TIMED_OUT);
        }
        node::operation operation(engine);
        if (operation.init(sum.args) != UCS_OK) return "init";
        operation.start();
        for (int i = 0; i < 1000; ++i)
            engine.progress();
        if (engine.missing() != std::vector<rank_t>{1}) return "missing";
        engine.fail(UCS_ERR_TIMED_OUT);
        return operation.status() == UCS_ERR_TIMED_OUT ? "" : "status";
    };
    CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
}

TEST_CASE("the death of a rank ends the operation of ranks that read its memory") {
    const auto body = [](test::node_rank& me) -> std::string {
        node::tuning params;
        params.single_copy_bytes = 1;
        node::engine engine(me.memory, me.lives, me.rank, params, me.peers);
        std::vector<std::uint64_t> from(3000, me.rank), into(3000);
        schedule::call args;
        args.kind = collective::alltoall;
        args.from = from.data();
        args.into = into.data();
        args.count = 1000;
        args.element = 8;
        node::operation operation(engine);
        if (operation.init(args) != UCS_OK) return "init";
        ucs_status_t status = UCS_OK;
        for (int round = 0; status == UCS_OK; ++round) {
            operation.start();
            // The rank dies when its address is known, before it has read the others' blocks.
            if (me.rank == 2 && round == 20) ::kill(::getpid(), SIGKILL);
            status = engine.wait(operation);
            for (rank_t rank = 0; status == UCS_OK && rank < 3; ++rank)
                if (into[rank * 1000 + 999] != rank) return "content";
        }
        // A rank may find out by reading or by the watch.
        const bool right = status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_ENDPOINT_TIMEOUT;
        return right ? "" : fmt::format("ended with {}", ucs_status_string(status));
    };
    for (int i = 0; i < 5; ++i)
        CHECK(run_node(test::small_node(3), ranks_are::processes, body) == "");
}

TEST_CASE("memory of another process with the same pid, or at an invalid address, is not read") {
    const std::uint64_t value = 77;
    const auto address = reinterpret_cast<std::uintptr_t>(&value);
    std::uint64_t into = 0;
    const node::process_identity own = node::process_identity::own();
    node::process_identity stranger = own, nobody = own, moved = own;
    ++stranger.cookie;
    nobody.pid = 0x7ffffffe;
    moved.cookie_address = 8;
    const node::local_peers all({own, stranger, nobody, moved});
    CHECK(all.read(0, address, &into, sizeof into) == UCS_OK);
    CHECK(into == 77);
    CHECK(all.read(0, 16, &into, sizeof into) == UCS_ERR_IO_ERROR);
    CHECK(all.read(1, address, &into, sizeof into) == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(all.read(2, address, &into, sizeof into) == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(all.read(3, address, &into, sizeof into) == UCS_ERR_IO_ERROR);
    CHECK_FALSE(all.can_read_all());
    CHECK(node::local_peers({own, own}).can_read_all());
}

namespace {

// Rank 0 fails an operation that rank 1 begins only after that.
std::string come_late(test::node_rank& me, std::uint64_t count, std::atomic<bool>& over) {
    node::engine engine(me.memory, me.lives, me.rank);
    const schedule::kernel_reducer reducer(reduce::element::int64, reduce::operation::sum,
                                           engine.size());
    std::vector<std::int64_t> from(count, 1), into(count);
    schedule::call args;
    args.kind = schedule::collective::allreduce;
    args.from = from.data();
    args.into = into.data();
    args.count = count;
    args.element = 8;
    args.op = &reducer;
    node::operation operation(engine);
    if (operation.init(args) != UCS_OK) return "init";
    while (me.rank == 1 && !over)
        std::this_thread::yield();
    operation.start();
    if (me.rank == 0) {
        engine.fail(UCS_ERR_TIMED_OUT);
        over = true;
    }
    return engine.wait(operation) == UCS_ERR_TIMED_OUT ? "" : fmt::format("rank {}", me.rank);
}

}  // namespace

TEST_CASE("a rank that comes after a failure does not take the failed part for done", "[threads]") {
    for (const std::uint64_t count : {1U, 100U, 20'000U}) {
        std::atomic<bool> over = false;
        CHECK(run_node(test::small_node(2), ranks_are::threads,
                       [&](auto& me) { return come_late(me, count, over); }) == "");
    }
}

namespace {

// Rank 1 could not make its part of the group.
std::string run_with_declined_rank(test::node_rank& me) {
    if (me.rank == 1) {
        me.memory.decline(1, UCS_ERR_NO_MEMORY);
        return "";
    }
    node::engine engine(me.memory, me.lives, me.rank, {}, me.peers, {});
    sum_of sum(1);
    return run_until_failed(engine, sum, UCS_ERR_NO_MEMORY);
}

}  // namespace

TEST_CASE("a rank that declines the group reports it, and no rank waits for it") {
    CHECK(run_node(test::small_node(2), ranks_are::threads, run_with_declined_rank) == "");
    CHECK(run_node(test::small_node(3), ranks_are::processes, run_with_declined_rank) == "");
}
