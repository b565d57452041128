// Every algorithm over the rings of one node.
#include "ucg/node/fabric.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <thread>

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

std::string run_all(test::node_rank& me, const std::vector<task_of>& all, std::size_t early) {
    node::fabric over(me.memory, me.lives, me.rank, me.early, early);
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

std::string run_together(test::node_rank& me, const std::vector<task_of>& all, std::size_t early) {
    node::fabric over(me.memory, me.lives, me.rank, me.early, early);
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

TEST_CASE("every algorithm runs over the rings of a node", "[threads]") {
    for (const auto what : {ranks_are::threads, ranks_are::processes}) {
        for (const rank_t ranks : {1U, 2U, 3U, 5U, 8U}) {
            std::vector<task_of> all;
            for (const std::uint64_t count : {0U, 3U, 700U})  // up to several rings full
                for (const task_of& each : all_rows(ranks, count))
                    all.push_back(each);
            // Without room for early messages a send waits for its receive.
            const std::size_t early =
                what == ranks_are::threads ? 0 : node::fabric::usual_early_bytes;
            const std::string wrong = run_node(test::small_node(ranks), what,
                                               [&](auto& me) { return run_all(me, all, early); });
            if (!wrong.empty()) FAIL(wrong);
        }
    }
    SUCCEED();
}

TEST_CASE("operations over the rings of a node at the same time") {
    for (const rank_t ranks : {2U, 5U}) {
        std::vector<task_of> all = all_rows(ranks, 300);
        for (const std::size_t early : {std::size_t{0}, node::fabric::usual_early_bytes}) {
            const std::string wrong =
                run_node(test::small_node(ranks), ranks_are::processes,
                         [&](auto& me) { return run_together(me, all, early); });
            if (!wrong.empty()) FAIL(wrong);
        }
    }
    SUCCEED();
}

namespace {

scenario sum_at_root(rank_t ranks) {
    scenario of;
    of.what = collective::reduce;
    of.ranks = ranks;
    of.count = 100;
    return of;
}

// A word that no fabric uses: rank 1 says there how far it is.
std::uint64_t& mark_of(test::node_rank& me) {
    return *reinterpret_cast<std::uint64_t*>(me.memory.mailbox_content(1, 0));
}

// Until nothing has moved for long, so that nothing will unless another rank does something.
void settle(node::fabric& over) {
    for (unsigned fruitless = 0; fruitless < 20'000; ++fruitless)
        if (over.progress()) fruitless = 0;
}

// Rank 1 starts many operations before rank 0 does.
std::string be_flooded(test::node_rank& me) {
    constexpr std::size_t limit = 4096;
    node::fabric over(me.memory, me.lives, me.rank, me.early, limit);
    schedule::frame_pool frames;
    const scenario of = sum_at_root(2);
    const schedule::algorithm& by = algo::algorithms(of.what).front();
    std::deque<test::reference> data;
    std::deque<schedule::operation> operations;
    for (int i = 0; i < 200; ++i) {
        data.emplace_back(of);
        operations.emplace_back(over, frames);
        if (operations.back().init(by, data.back().call_of(me.rank)) != UCS_OK) return "init";
    }
    while (me.rank == 0 && (node::look(mark_of(me)) == 0 || over.kept_of(1) < limit))
        over.progress();
    if (me.rank == 0) settle(over);
    const std::size_t kept = me.rank == 0 ? over.kept_of(1) : 0;
    for (schedule::operation& each : operations)
        each.start();
    if (me.rank == 1) settle(over);
    if (me.rank == 1) node::tell(mark_of(me), 1);
    for (schedule::operation& each : operations)
        if (over.wait(each) != UCS_OK) return "status";
    if (kept > limit + me.memory.like().ring_bytes) return fmt::format("{} bytes are kept", kept);
    return data.back().wrong_at(me.rank);
}

}  // namespace

namespace {

// Rank 1 sends parts of later and later operations; rank 0 waits for a message that never comes.
std::string be_flooded_in_vain(test::node_rank& me) {
    constexpr std::size_t limit = 1 << 20;
    node::early_limit together(limit);
    node::fabric over(me.memory, me.lives, me.rank, together, 4096);
    schedule::frame_pool frames;
    const scenario of = sum_at_root(2);
    const schedule::algorithm& by = algo::algorithms(of.what).front();
    test::reference data(of);
    if (me.rank == 0) {
        schedule::operation awaited(over, frames);
        if (awaited.init(by, data.call_of(0)) != UCS_OK) return "init";
        awaited.start();
        const ucs_status_t status = over.wait(awaited);
        node::tell(mark_of(me), 1);
        if (over.kept_of(1) > 2 * limit) return fmt::format("{} bytes kept", over.kept_of(1));
        return status == UCS_ERR_EXCEEDS_LIMIT ? "" : fmt::format("status {}", status);
    }
    // Its first operation has another number than that of rank 0.
    schedule::operation skipped(over, frames);
    schedule::sequence_t number = 0;
    if (over.enter(skipped, number) != UCS_OK) return "enter";
    std::deque<schedule::operation> flood;
    for (int i = 0; i < 20'000 && node::look(mark_of(me)) == 0; ++i) {
        flood.emplace_back(over, frames);
        if (flood.back().init(by, data.call_of(1)) != UCS_OK) return "init";
        flood.back().start();
        over.progress();
    }
    // The other rank needs the processor as well, on a machine that has much to do.
    for (int turn = 0; turn < 20'000'000 && node::look(mark_of(me)) == 0; ++turn)
        if (!over.progress()) std::this_thread::yield();
    const bool was_stopped = node::look(mark_of(me)) != 0;
    for (schedule::operation& each : flood)
        each.fail(UCS_ERR_CANCELED);
    over.leave(skipped);
    return was_stopped ? "" : "rank 0 takes it all";
}

}  // namespace

TEST_CASE("a rank that sends what nobody asks for, and not what is waited for, is lost") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, be_flooded_in_vain) == "");
}

TEST_CASE("early messages take bounded memory, and come all the same") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, be_flooded) == "");
}

namespace {

// A broadcast from rank 2 over 2, 0, 1: rank 1 floods rank 0 with later operations and gives the
// broadcast up. Rank 0, which waits for rank 2 alone, leaves the ring from rank 1 unread.
std::string hear_by_another(test::node_rank& me) {
    node::fabric over(me.memory, me.lives, me.rank, me.early, 0);
    schedule::frame_pool frames;
    scenario of;
    of.what = collective::bcast;
    of.ranks = 4;
    of.root = 2;
    test::reference data(of), later(sum_at_root(4));
    schedule::operation broadcast(over, frames);
    if (broadcast.init(algo::algorithms(of.what).front(), data.call_of(me.rank)) != UCS_OK)
        return "init";
    const bool late = me.rank == 2 || me.rank == 3;
    while (late && node::look(mark_of(me)) == 0)
        over.progress();
    if (late) settle(over);  // what came before the mark is read before the start
    broadcast.start();
    if (me.rank == 1) {
        std::deque<schedule::operation> flood;
        for (int i = 0; i < 100; ++i) {
            flood.emplace_back(over, frames);
            const schedule::algorithm& by = algo::algorithms(collective::reduce).front();
            if (flood.back().init(by, later.call_of(1)) != UCS_OK) return "init";
            flood.back().start();
        }
        settle(over);
        broadcast.fail(UCS_ERR_CANCELED);
        for (schedule::operation& each : flood)
            each.fail(UCS_ERR_CANCELED);
        settle(over);
        node::tell(mark_of(me), 1);
    }
    const ucs_status_t status = over.wait(broadcast);
    while (node::look(mark_of(me)) != 1 + me.rank)  // one after the other: all hear the others
        over.progress();
    settle(over);
    node::tell(mark_of(me), 2 + me.rank);
    return status == UCS_ERR_CANCELED ? "" : fmt::format("rank {}: {}", me.rank, status);
}

}  // namespace

TEST_CASE("news of a failure come past a ring that is left alone") {
    CHECK(run_node(test::small_node(4), ranks_are::processes, hear_by_another) == "");
}

namespace {

// One rank's part in an operation over the rings of its node.
struct own_part {
    own_part(test::node_rank& me, const task_of& what)
        : over(me.memory, me.lives, me.rank, me.early),
          data(what.of),
          operation(over, frames),
          made(operation.init(*what.by, data.call_of(me.rank))) {}

    node::fabric over;
    schedule::frame_pool frames;
    test::reference data;
    schedule::operation operation;
    const ucs_status_t made;
};

// Goes on until it fails; one of the ranks is killed at one of the starts.
std::string lose_one(test::node_rank& me, const task_of& what, int starts_to_live) {
    own_part mine(me, what);
    auto& [over, frames, data, operation, made] = mine;
    if (made != UCS_OK) return "init";
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

namespace {

// Between two ranks, of messages that are longer than their rings.
task_of long_one(collective what, const char* by) {
    scenario of;
    of.what = what;
    of.ranks = 2;
    of.count = 100'000;
    of.root = what == collective::bcast ? 1 : 0;
    return {of, algo::find(what, by)};
}

// Rank 1 cancels with its ring full of the begin of a message, and leaves; then rank 0 comes.
std::string leave_early(test::node_rank& me) {
    own_part mine(me, long_one(collective::allreduce, "recursive_doubling"));
    auto& [over, frames, data, operation, made] = mine;
    if (made != UCS_OK) return "init";
    std::uint64_t& mark = me.memory.control_of(1).entry;
    if (me.rank == 1) {
        operation.start();
        operation.fail(UCS_ERR_CANCELED);
        const bool ended = operation.status() == UCS_ERR_CANCELED;
        node::tell(mark, 1);
        return ended ? "" : "it did not end";
    }
    while (node::look(mark) == 0)
        ::usleep(100);
    operation.start();
    return over.wait(operation) == UCS_OK ? "rank 0 did not notice" : "";
}

}  // namespace

TEST_CASE("a rank that leaves with news in a full ring ends what others expect of it") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, leave_early) == "");
}

namespace {

// Rank 1 cancels with its ring full of the begin of a message, and stays; then rank 0 comes.
std::string cancel_early(test::node_rank& me) {
    own_part mine(me, long_one(collective::bcast, "binomial"));
    auto& [over, frames, data, operation, made] = mine;
    if (made != UCS_OK) return "init";
    std::uint64_t& canceled = me.memory.control_of(1).entry;
    std::uint64_t& over_at_0 = me.memory.control_of(0).entry;
    if (me.rank == 1) {
        operation.start();
        operation.fail(UCS_ERR_CANCELED);
        node::tell(canceled, 1);
        while (node::look(over_at_0) == 0)
            static_cast<void>(over.progress());
        return {};
    }
    while (node::look(canceled) == 0)
        ::usleep(100);
    operation.start();
    const ucs_status_t status = over.wait(operation);
    node::tell(over_at_0, 1);
    return status == UCS_ERR_CANCELED ? "" : ucs_status_string(status);
}

}  // namespace

// The rest of it came without content, and its receiver ended well before it heard why.
TEST_CASE("a message that was canceled half way is not taken for a whole one") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, cancel_early) == "");
}

namespace {

// Rank 1 cancels a message that is half in its full ring, and a short one behind it, and sends a
// third one; then rank 0 comes.
std::string cancel_two(test::node_rank& me) {
    node::fabric over(me.memory, me.lives, me.rank, me.early);
    schedule::frame_pool frames;
    const task_of what = long_one(collective::bcast, "binomial");
    std::deque<test::reference> data;
    std::deque<schedule::operation> all;
    for (const std::uint64_t count : {std::uint64_t{100'000}, std::uint64_t{1}, std::uint64_t{2}}) {
        scenario of = what.of;
        of.count = count;
        data.emplace_back(of);
        all.emplace_back(over, frames);
        if (all.back().init(*what.by, data.back().call_of(me.rank)) != UCS_OK) return "init";
    }
    std::uint64_t& canceled = me.memory.control_of(1).entry;
    while (me.rank == 0 && node::look(canceled) == 0)
        ::usleep(100);
    for (schedule::operation& each : all)
        each.start();
    if (me.rank == 1) {
        all[0].fail(UCS_ERR_CANCELED);
        all[1].fail(UCS_ERR_CANCELED);
        node::tell(canceled, 1);
    }
    for (schedule::operation& each : all) {
        const ucs_status_t wanted = &each == &all[2] ? UCS_OK : UCS_ERR_CANCELED;
        if (const ucs_status_t status = over.wait(each); status != wanted)
            return fmt::format("rank {}: {}", me.rank, ucs_status_string(status));
    }
    return data[2].wrong_at(me.rank);
}

}  // namespace

// The second one was taken for the one that is half out, which then never came to its end.
TEST_CASE("two messages that were canceled do not block the third") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, cancel_two) == "");
}

namespace {

// Rank 1 sends rank 0 the same half ring again and again. `between`: called by rank 0 after each.
struct half_rings final : schedule::program {
    half_rings(std::uint64_t times, std::function<void()> between = {})
        : left(times), after_each(std::move(between)) {}

    schedule::task run(schedule::member& me) noexcept override {
        return me.rank() == 0 ? take(me, *this) : give(me, *this);
    }
    static schedule::task give(schedule::member& me, half_rings& all) {
        for (; all.left != 0; --all.left)
            co_await me.send(0, all.content.data(), all.content.size());
    }
    static schedule::task take(schedule::member& me, half_rings& all) {
        for (; all.left != 0; --all.left) {
            co_await me.receive(1, all.content.data(), all.content.size());
            all.after_each();
        }
    }

    std::uint64_t left;
    const std::function<void()> after_each;
    std::array<std::byte, 512> content{};
};

// Both ranks in one thread: the sender fills the ring whenever the receiver has emptied half of it.
std::string read_by_one_thread(test::node_rank& me) {
    constexpr std::uint64_t times = 1000;
    node::fabric sender(me.memory, me.lives, 1, me.early), over(me.memory, me.lives, 0, me.early);
    schedule::frame_pool frames;
    half_rings out(times), in(times, [&] { static_cast<void>(sender.progress()); });
    schedule::operation sends(sender, frames), receives(over, frames);
    sends.init(out);
    receives.init(in);
    sends.start();
    receives.start();
    std::uint64_t most = 0;
    while (receives.status() == UCS_INPROGRESS) {
        const std::uint64_t before = in.left;
        static_cast<void>(over.progress());
        if (receives.status() == UCS_INPROGRESS && in.left == before) return "it stands still";
        most = std::max(most, (before - in.left) * in.content.size());
    }
    if (receives.status() != UCS_OK || sends.status() != UCS_OK) return "status";
    return most <= me.memory.like().ring_bytes ? "" : fmt::format("{} bytes at once", most);
}

// The process of rank 1 stays alive until rank 0 is done: the ring of a dead rank is read once more
// when its death is noticed.
std::string read_in_turns(test::node_rank& me) {
    while (me.rank == 1 && node::look(mark_of(me)) == 0)
        ::usleep(1000);
    if (me.rank == 1) return {};
    std::string wrong = read_by_one_thread(me);
    node::tell(mark_of(me), 1);
    return wrong;
}

// Rank 2 dies; rank 0 waits for it while something comes from rank 1 all the time.
std::string notice_under_load(test::node_rank& me) {
    while (me.rank == 1 && node::look(mark_of(me)) == 0)
        ::usleep(1000);
    if (me.rank == 1) return {};
    if (me.rank == 2) ::kill(::getpid(), SIGKILL);
    node::fabric sender(me.memory, me.lives, 1, me.early), over(me.memory, me.lives, 0, me.early);
    schedule::frame_pool frames;
    half_rings out(std::uint64_t{1} << 60), in(std::uint64_t{1} << 60, [] {});
    schedule::operation sends(sender, frames), receives(over, frames), broadcast(over, frames);
    scenario of;
    of.what = collective::bcast;
    of.ranks = 3;
    of.root = 2;
    test::reference data(of);
    sends.init(out);
    receives.init(in);
    if (broadcast.init(*algo::find(of.what, "binomial"), data.call_of(0)) != UCS_OK) return "init";
    for (schedule::operation* const each : {&sends, &receives, &broadcast})
        each->start();
    const ucs::time::nanoseconds end = ucs::time::now() + 10 * ucs::time::second;
    while (broadcast.status() == UCS_INPROGRESS && ucs::time::now() < end) {
        static_cast<void>(sender.progress());
        static_cast<void>(over.progress());
    }
    const ucs_status_t status = broadcast.status();
    broadcast.fail(UCS_ERR_CANCELED);
    receives.fail(UCS_ERR_CANCELED);
    sends.fail(UCS_ERR_CANCELED);
    node::tell(mark_of(me), 1);
    return status == UCS_ERR_ENDPOINT_TIMEOUT ? "" : ucs_status_string(status);
}

}  // namespace

TEST_CASE("one look at a ring that is filled again and again comes to its end") {
    CHECK(run_node(test::small_node(2), ranks_are::processes, read_in_turns) == "");
}

TEST_CASE("a rank that sends on and on does not hide that another one died") {
    CHECK(run_node(test::small_node(3), ranks_are::processes, notice_under_load) == "");
}

TEST_CASE("a ring with nonsense ends what is expected of it", "[threads]") {
    scenario of;
    of.what = collective::allreduce;
    of.count = 3;
    const auto body = [&](test::node_rank& me) -> std::string {
        if (me.rank == 1) {
            node::tell(me.memory.ring(1, 0).written, 4000);
            return {};
        }
        node::fabric over(me.memory, me.lives, me.rank, me.early);
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
