// Tests of the node fabric: every algorithm over the rings of one node, failures and cancellation.
#include "ucg/node/rings/fabric.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "test/unit/ucg/algo/simulated_collective.hpp"
#include "test/unit/ucg/node/group.hpp"
#include "ucg/algo/table.hpp"

using namespace ucg;
using node::rank_t;
using schedule::collective;
using namespace test;

namespace {

struct algorithm_run {
    scenario scene;
    const schedule::algorithm* algorithm;
};

// Returns each algorithm of the table that fits.
std::vector<algorithm_run> all_rows(rank_t ranks, std::uint64_t count) {
    std::vector<algorithm_run> all;
    for (std::size_t i = 0; i < schedule::collective_count; ++i) {
        for (const schedule::algorithm& algorithm : algo::algorithms(static_cast<collective>(i))) {
            scenario scene;
            scene.kind = static_cast<collective>(i);
            scene.ranks = ranks;
            scene.count = count;
            scene.seed = i + count;
            scene.root = static_cast<rank_t>(i % ranks);
            scene.in_place = all.size() % 3 == 1 && scene.kind != collective::bcast &&
                             scene.kind != collective::barrier;
            test::reference described(scene);
            if (can_run(algorithm, described.call_of(0), {.ranks = ranks}, false))
                all.push_back({scene, &algorithm});
        }
    }
    return all;
}

std::string run_all(test::node_rank& me, const std::vector<algorithm_run>& all, std::size_t early) {
    node::fabric fabric(me.memory, me.lives, me.rank, me.early, early);
    schedule::frame_pool frames;
    for (const algorithm_run& each : all) {
        test::reference data(each.scene);
        schedule::operation operation(fabric, frames);
        if (operation.init(*each.algorithm, data.call_of(me.rank)) != UCS_OK) return "init";
        operation.start();
        if (fabric.wait(operation) != UCS_OK)
            return fmt::format("{}: {}: status", each.algorithm->name, text(each.scene));
        if (std::string wrong = data.wrong_at(me.rank); !wrong.empty())
            return fmt::format("{}: {}: {}", each.algorithm->name, text(each.scene), wrong);
    }
    return {};
}

std::string run_together(test::node_rank& me, const std::vector<algorithm_run>& all,
                         std::size_t early) {
    node::fabric fabric(me.memory, me.lives, me.rank, me.early, early);
    schedule::frame_pool frames;
    std::deque<test::reference> data;
    std::deque<schedule::operation> operations;
    for (const algorithm_run& each : all) {
        data.emplace_back(each.scene);
        operations.emplace_back(fabric, frames);
        if (operations.back().init(*each.algorithm, data.back().call_of(me.rank)) != UCS_OK)
            return "init";
    }
    for (schedule::operation& each : operations)
        each.start();
    for (schedule::operation& each : operations)
        if (fabric.wait(each) != UCS_OK) return "status";
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::string wrong = data[i].wrong_at(me.rank); !wrong.empty())
            return fmt::format("{}: {}: {}", all[i].algorithm->name, text(all[i].scene), wrong);
    return {};
}

}  // namespace

TEST_CASE("every algorithm runs over the rings of a node", "[threads]") {
    for (const auto kind : {ranks_are::threads, ranks_are::processes}) {
        for (const rank_t ranks : {1U, 2U, 3U, 5U, 8U}) {
            std::vector<algorithm_run> all;
            for (const std::uint64_t count : {0U, 3U, 700U})  // up to the size of several rings
                for (const algorithm_run& each : all_rows(ranks, count))
                    all.push_back(each);
            // If there is no room for early messages, a send waits for its receive.
            const std::size_t early =
                kind == ranks_are::threads ? 0 : node::fabric::usual_early_bytes;
            REQUIRE(run_node(test::small_node(ranks), kind,
                             [&](auto& me) { return run_all(me, all, early); }) == "");
        }
    }
}

TEST_CASE("many operations run over the rings of a node at the same time") {
    for (const rank_t ranks : {2U, 5U}) {
        std::vector<algorithm_run> all = all_rows(ranks, 300);
        for (const std::size_t early : {std::size_t{0}, node::fabric::usual_early_bytes}) {
            REQUIRE(run_node(test::small_node(ranks), ranks_are::processes,
                             [&](auto& me) { return run_together(me, all, early); }) == "");
        }
    }
}

namespace {

scenario sum_at_root(rank_t ranks) {
    scenario scene{.kind = collective::reduce, .ranks = ranks, .count = 100};
    return scene;
}

// A word that no fabric uses; rank 1 publishes its position there.
std::uint64_t& mark_of(test::node_rank& me) {
    return *reinterpret_cast<std::uint64_t*>(me.memory.mailbox_content(1, 0));
}

// Makes progress until nothing has advanced for long, so nothing will unless another rank acts.
void settle(node::fabric& fabric) {
    for (unsigned idle_polls = 0; idle_polls < 20'000; ++idle_polls)
        if (fabric.progress()) idle_polls = 0;
}

// Rank 1 starts many operations before rank 0 does.
std::string start_after_flood(test::node_rank& me) {
    constexpr std::size_t limit = 4096;
    node::fabric fabric(me.memory, me.lives, me.rank, me.early, limit);
    schedule::frame_pool frames;
    const scenario scene = sum_at_root(2);
    const schedule::algorithm& algorithm = algo::algorithms(scene.kind).front();
    std::deque<test::reference> data;
    std::deque<schedule::operation> operations;
    for (int i = 0; i < 200; ++i) {
        data.emplace_back(scene);
        operations.emplace_back(fabric, frames);
        if (operations.back().init(algorithm, data.back().call_of(me.rank)) != UCS_OK)
            return "init";
    }
    while (me.rank == 0 && (node::load_acquire(mark_of(me)) == 0 || fabric.stored_bytes(1) < limit))
        fabric.progress();
    if (me.rank == 0) settle(fabric);
    const std::size_t kept = me.rank == 0 ? fabric.stored_bytes(1) : 0;
    for (schedule::operation& each : operations)
        each.start();
    if (me.rank == 1) settle(fabric);
    if (me.rank == 1) node::store_release(mark_of(me), 1);
    for (schedule::operation& each : operations)
        if (fabric.wait(each) != UCS_OK) return "status";
    if (kept > limit + me.memory.layout().ring_bytes) return fmt::format("{} bytes are kept", kept);
    return data.back().wrong_at(me.rank);
}

}  // namespace

namespace {

// Rank 1 sends parts of later and later operations; rank 0 waits for a message that never comes.
std::string wait_while_flooded(test::node_rank& me) {
    constexpr std::size_t limit = 1 << 20;
    node::early_limit together(limit);
    node::fabric fabric(me.memory, me.lives, me.rank, together, 4096);
    schedule::frame_pool frames;
    const scenario scene = sum_at_root(2);
    const schedule::algorithm& algorithm = algo::algorithms(scene.kind).front();
    test::reference data(scene);
    if (me.rank == 0) {
        schedule::operation awaited(fabric, frames);
        if (awaited.init(algorithm, data.call_of(0)) != UCS_OK) return "init";
        awaited.start();
        const ucs_status_t status = fabric.wait(awaited);
        node::store_release(mark_of(me), 1);
        if (fabric.stored_bytes(1) > 2 * limit)
            return fmt::format("{} bytes kept", fabric.stored_bytes(1));
        return status == UCS_ERR_EXCEEDS_LIMIT ? "" : fmt::format("status {}", status);
    }
    // The first operation of this rank has another number than that of rank 0.
    schedule::operation skipped(fabric, frames);
    schedule::sequence_t number = 0;
    if (fabric.begin_operation(skipped, number) != UCS_OK) return "begin";
    std::deque<schedule::operation> flood;
    for (int i = 0; i < 20'000 && node::load_acquire(mark_of(me)) == 0; ++i) {
        flood.emplace_back(fabric, frames);
        if (flood.back().init(algorithm, data.call_of(1)) != UCS_OK) return "init";
        flood.back().start();
        fabric.progress();
    }
    // The other rank needs the processor as well, on a busy machine.
    for (int turn = 0; turn < 20'000'000 && node::load_acquire(mark_of(me)) == 0; ++turn)
        if (!fabric.progress()) std::this_thread::yield();
    const bool was_stopped = node::load_acquire(mark_of(me)) != 0;
    for (schedule::operation& each : flood)
        each.fail(UCS_ERR_CANCELED);
    fabric.end_operation(skipped);
    return was_stopped ? "" : "rank 0 stores everything";
}

}  // namespace

TEST_CASE("a rank that floods this one and does not send the awaited message is lost") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, wait_while_flooded) == "");
}

TEST_CASE("early messages take bounded memory and are delivered") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, start_after_flood) == "");
}

namespace {

// A broadcast from rank 2 over ranks 2, 0 and 1. Rank 1 floods rank 0 with later operations and
// fails the broadcast. Rank 0, which waits for rank 2 only, leaves the ring from rank 1 unread.
std::string learn_of_failure_by_relay(test::node_rank& me) {
    node::fabric fabric(me.memory, me.lives, me.rank, me.early, 0);
    schedule::frame_pool frames;
    scenario scene{.kind = collective::bcast, .ranks = 4, .root = 2};
    test::reference data(scene), later(sum_at_root(4));
    schedule::operation broadcast(fabric, frames);
    if (broadcast.init(algo::algorithms(scene.kind).front(), data.call_of(me.rank)) != UCS_OK)
        return "init";
    const bool late = me.rank == 2 || me.rank == 3;
    while (late && node::load_acquire(mark_of(me)) == 0)
        fabric.progress();
    if (late) settle(fabric);  // messages from before the mark are read before the start
    broadcast.start();
    if (me.rank == 1) {
        std::deque<schedule::operation> flood;
        for (int i = 0; i < 100; ++i) {
            flood.emplace_back(fabric, frames);
            const schedule::algorithm& algorithm = algo::algorithms(collective::reduce).front();
            if (flood.back().init(algorithm, later.call_of(1)) != UCS_OK) return "init";
            flood.back().start();
        }
        settle(fabric);
        broadcast.fail(UCS_ERR_CANCELED);
        for (schedule::operation& each : flood)
            each.fail(UCS_ERR_CANCELED);
        settle(fabric);
        node::store_release(mark_of(me), 1);
    }
    const ucs_status_t status = fabric.wait(broadcast);
    while (node::load_acquire(mark_of(me)) !=
           1 + me.rank)  // one after the other: all hear the others
        fabric.progress();
    settle(fabric);
    node::store_release(mark_of(me), 2 + me.rank);
    return status == UCS_ERR_CANCELED ? "" : fmt::format("rank {}: {}", me.rank, status);
}

}  // namespace

TEST_CASE("a failure is reported although a ring is left unread") {
    CHECK(run_node(test::small_node(4), ranks_are::processes, learn_of_failure_by_relay) == "");
}

namespace {

// One rank's part in an operation over the rings of its node.
struct own_part {
    own_part(test::node_rank& me, const algorithm_run& row)
        : fabric(me.memory, me.lives, me.rank, me.early),
          data(row.scene),
          operation(fabric, frames),
          made(operation.init(*row.algorithm, data.call_of(me.rank))) {}

    node::fabric fabric;
    schedule::frame_pool frames;
    test::reference data;
    schedule::operation operation;
    const ucs_status_t made;
};

// Repeats the operation until it fails; one of the ranks is killed at one of the starts.
std::string run_until_rank_dies(test::node_rank& me, const algorithm_run& row, int starts_to_live) {
    own_part part(me, row);
    auto& [fabric, frames, data, operation, made] = part;
    if (made != UCS_OK) return "init";
    for (int i = 0; i < 1000; ++i) {
        data.refill();
        operation.start();
        if (me.rank == 1 && i == starts_to_live) ::kill(::getpid(), SIGKILL);
        const ucs_status_t status = fabric.wait(operation);
        if (status == UCS_ERR_ENDPOINT_TIMEOUT) return {};
        if (status != UCS_OK) return fmt::format("rank {}: {}", me.rank, ucs_status_string(status));
    }
    return fmt::format("rank {} did not notice", me.rank);
}

}  // namespace

TEST_CASE("the operations over the rings of a killed rank end") {
    for (const std::uint64_t count : {3U, 700U}) {
        for (const algorithm_run& each : all_rows(4, count)) {
            if (each.scene.kind != collective::allreduce) continue;
            const std::string wrong =
                run_node(test::small_node(4), ranks_are::processes,
                         [&](auto& me) { return run_until_rank_dies(me, each, 2); });
            INFO(each.algorithm->name);
            CHECK(wrong == "");
        }
    }
}

namespace {

// An operation between two ranks, with messages that are longer than their rings.
algorithm_run long_one(collective type, const char* name) {
    scenario scene{
        .kind = type, .ranks = 2, .count = 100'000, .root = type == collective::bcast ? 1U : 0U};
    return {scene, algo::find(type, name)};
}

// Rank 1 cancels while its ring is full of the first part of a message, and leaves; then rank 0
// starts.
std::string leave_early(test::node_rank& me) {
    own_part part(me, long_one(collective::allreduce, "recursive_doubling"));
    auto& [fabric, frames, data, operation, made] = part;
    if (made != UCS_OK) return "init";
    std::uint64_t& mark = me.memory.control_of(1).entry;
    if (me.rank == 1) {
        operation.start();
        operation.fail(UCS_ERR_CANCELED);
        const bool ended = operation.status() == UCS_ERR_CANCELED;
        node::store_release(mark, 1);
        return ended ? "" : "the operation did not end";
    }
    while (node::load_acquire(mark) == 0)
        ::usleep(100);
    operation.start();
    return fabric.wait(operation) == UCS_OK ? "rank 0 did not notice" : "";
}

}  // namespace

TEST_CASE(
    "a rank that leaves with a failure report in a full ring ends the operations that need it") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, leave_early) == "");
}

namespace {

// Rank 1 cancels while its ring is full of the first part of a message, and stays; then rank 0
// starts.
std::string cancel_early(test::node_rank& me) {
    own_part part(me, long_one(collective::bcast, "binomial"));
    auto& [fabric, frames, data, operation, made] = part;
    if (made != UCS_OK) return "init";
    std::uint64_t& canceled = me.memory.control_of(1).entry;
    std::uint64_t& ended_at_0 = me.memory.control_of(0).entry;
    if (me.rank == 1) {
        operation.start();
        operation.fail(UCS_ERR_CANCELED);
        node::store_release(canceled, 1);
        while (node::load_acquire(ended_at_0) == 0)
            static_cast<void>(fabric.progress());
        return {};
    }
    while (node::load_acquire(canceled) == 0)
        ::usleep(100);
    operation.start();
    const ucs_status_t status = fabric.wait(operation);
    node::store_release(ended_at_0, 1);
    return status == UCS_ERR_CANCELED ? "" : ucs_status_string(status);
}

}  // namespace

// Before a fix, the rest of the message came without content, and its receive ended with success
// before the failure was reported.
TEST_CASE("a message that was canceled half way is not delivered as complete") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, cancel_early) == "");
}

namespace {

// Rank 1 cancels a message that is partly in its full ring, and a short one behind it, and sends a
// third one. Then rank 0 starts.
std::string cancel_two(test::node_rank& me) {
    node::fabric fabric(me.memory, me.lives, me.rank, me.early);
    schedule::frame_pool frames;
    const algorithm_run row = long_one(collective::bcast, "binomial");
    std::deque<test::reference> data;
    std::deque<schedule::operation> all;
    for (const std::uint64_t count : {std::uint64_t{100'000}, std::uint64_t{1}, std::uint64_t{2}}) {
        scenario scene = row.scene;
        scene.count = count;
        data.emplace_back(scene);
        all.emplace_back(fabric, frames);
        if (all.back().init(*row.algorithm, data.back().call_of(me.rank)) != UCS_OK) return "init";
    }
    std::uint64_t& canceled = me.memory.control_of(1).entry;
    while (me.rank == 0 && node::load_acquire(canceled) == 0)
        ::usleep(100);
    for (schedule::operation& each : all)
        each.start();
    if (me.rank == 1) {
        all[0].fail(UCS_ERR_CANCELED);
        all[1].fail(UCS_ERR_CANCELED);
        node::store_release(canceled, 1);
    }
    for (schedule::operation& each : all) {
        const ucs_status_t expected = &each == &all[2] ? UCS_OK : UCS_ERR_CANCELED;
        if (const ucs_status_t status = fabric.wait(each); status != expected)
            return fmt::format("rank {}: {}", me.rank, ucs_status_string(status));
    }
    return data[2].wrong_at(me.rank);
}

}  // namespace

// Before a fix, canceling the second message was taken for canceling the half-sent one, which then
// never ended.
TEST_CASE("two messages that were canceled do not block the third") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, cancel_two) == "");
}

namespace {

// Rank 1 sends rank 0 the same half ring again and again. Rank 0 calls `between` after each
// message.
struct half_rings final : schedule::program {
    half_rings(std::uint64_t times, std::function<void()> between = {})
        : left(times), after_each(std::move(between)) {}

    schedule::task run(schedule::member& me) noexcept override {
        for (; left != 0; --left) {
            if (me.rank() == 1) {
                co_await me.send(0, content.data(), content.size());
            } else {
                co_await me.receive(1, content.data(), content.size());
                after_each();
            }
        }
    }

    std::uint64_t left;
    const std::function<void()> after_each;
    std::array<std::byte, 512> content{};
};

// Both ranks run in one thread: the sender fills the ring whenever the receiver has emptied half of
// it.
std::string read_by_one_thread(test::node_rank& me) {
    constexpr std::uint64_t times = 1000;
    node::fabric sender(me.memory, me.lives, 1, me.early), fabric(me.memory, me.lives, 0, me.early);
    schedule::frame_pool frames;
    half_rings out(times), in(times, [&] { static_cast<void>(sender.progress()); });
    schedule::operation sends(sender, frames), receives(fabric, frames);
    sends.init(out);
    receives.init(in);
    sends.start();
    receives.start();
    std::uint64_t max_bytes = 0;
    while (receives.status() == UCS_INPROGRESS) {
        const std::uint64_t before = in.left;
        static_cast<void>(fabric.progress());
        if (receives.status() == UCS_INPROGRESS && in.left == before) return "no progress";
        max_bytes = std::max(max_bytes, (before - in.left) * in.content.size());
    }
    if (receives.status() != UCS_OK || sends.status() != UCS_OK) return "status";
    return max_bytes <= me.memory.layout().ring_bytes ? ""
                                                      : fmt::format("{} bytes at once", max_bytes);
}

// The process of rank 1 stays alive until rank 0 is done, because the ring of a dead rank is read
// once more when its death is detected.
std::string read_in_turns(test::node_rank& me) {
    while (me.rank == 1 && node::load_acquire(mark_of(me)) == 0)
        ::usleep(1000);
    if (me.rank == 1) return {};
    std::string wrong = read_by_one_thread(me);
    node::store_release(mark_of(me), 1);
    return wrong;
}

// Rank 2 dies. Rank 0 waits for it while messages come from rank 1 all the time.
std::string notice_under_load(test::node_rank& me) {
    while (me.rank == 1 && node::load_acquire(mark_of(me)) == 0)
        ::usleep(1000);
    if (me.rank == 1) return {};
    if (me.rank == 2) ::kill(::getpid(), SIGKILL);
    node::fabric sender(me.memory, me.lives, 1, me.early), fabric(me.memory, me.lives, 0, me.early);
    schedule::frame_pool frames;
    half_rings out(std::uint64_t{1} << 60), in(std::uint64_t{1} << 60, [] {});
    schedule::operation sends(sender, frames), receives(fabric, frames), broadcast(fabric, frames);
    scenario scene{.kind = collective::bcast, .ranks = 3, .root = 2};
    test::reference data(scene);
    sends.init(out);
    receives.init(in);
    if (broadcast.init(*algo::find(scene.kind, "binomial"), data.call_of(0)) != UCS_OK)
        return "init";
    for (schedule::operation* const each : {&sends, &receives, &broadcast})
        each->start();
    const ucs::time::nanoseconds end = ucs::time::now() + 10 * ucs::time::second;
    while (broadcast.status() == UCS_INPROGRESS && ucs::time::now() < end) {
        static_cast<void>(sender.progress());
        static_cast<void>(fabric.progress());
    }
    const ucs_status_t status = broadcast.status();
    broadcast.fail(UCS_ERR_CANCELED);
    receives.fail(UCS_ERR_CANCELED);
    sends.fail(UCS_ERR_CANCELED);
    node::store_release(mark_of(me), 1);
    return status == UCS_ERR_ENDPOINT_TIMEOUT ? "" : ucs_status_string(status);
}

}  // namespace

TEST_CASE("one poll of a ring that is refilled all the time comes to an end") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, read_in_turns) == "");
}

TEST_CASE("a rank that sends without end does not hide the death of another one") {
    CHECK(run_node(test::small_node(3), ranks_are::processes, notice_under_load) == "");
}

TEST_CASE("invalid positions in a ring end the operations that need it", "[threads]") {
    scenario scene{.kind = collective::allreduce, .count = 3};
    const auto body = [&](test::node_rank& me) -> std::string {
        if (me.rank == 1) {
            node::store_release(me.memory.ring(1, 0).written, 4000);
            return {};
        }
        node::fabric fabric(me.memory, me.lives, me.rank, me.early);
        schedule::frame_pool frames;
        test::reference data(scene);
        schedule::operation operation(fabric, frames);
        if (operation.init(algo::algorithms(scene.kind).front(), data.call_of(0)) != UCS_OK)
            return "init";
        operation.start();
        return fabric.wait(operation) == UCS_ERR_IO_ERROR ? "" : "status";
    };
    CHECK(run_node(test::small_node(2), ranks_are::threads, body) == "");
}
