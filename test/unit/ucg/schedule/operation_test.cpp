#include "ucg/schedule/operation.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <utility>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/task_group.hpp"
#include "ucg/sim/network.hpp"

using namespace ucg;
using namespace schedule;

namespace {

std::size_t no_scratch(const call&, rank_t, rank_t) {
    return 0;
}
double no_cost(const schedule::shape&, const schedule::link_cost&) {
    return 0;
}

schedule::algorithm row_of(task (*body)(member&, const call&)) {
    return {schedule::collective::barrier, "test", body, no_scratch,
            schedule::condition::none,     no_cost};
}

// Counts the objects in coroutine frames that are alive.
struct witness {
    static int alive;
    witness() { ++alive; }
    witness(const witness&) = delete;
    witness& operator=(const witness&) = delete;
    ~witness() { --alive; }
};
int witness::alive = 0;

// A fabric of two ranks in which the pending message completes inside report_failure(), like a
// message that waited for credits which arrive at that moment.
class leaves_late final : public schedule::fabric {
public:
    [[nodiscard]] rank_t rank() const noexcept override { return 0; }
    [[nodiscard]] rank_t size() const noexcept override { return 2; }
    void post(schedule::step& step) noexcept override { waits_ = &step; }
    void cancel(schedule::step& step) noexcept override {
        waits_ = nullptr;
        step.owner->complete(step, UCS_ERR_CANCELED);
    }
    [[nodiscard]] ucs_status_t begin_operation(operation&, schedule::sequence_t& number) override {
        number = next_++;
        return refuses ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    void end_operation(operation& operation) noexcept override {
        ended.push_back(operation.status());
    }
    void report_failure(operation&, ucs_status_t why) noexcept override {
        announced.push_back(why);
        if (schedule::step* const leaves = std::exchange(waits_, nullptr))
            leaves->owner->complete(*leaves, UCS_OK);
    }
    std::vector<ucs_status_t> ended, announced;
    bool refuses = false;

private:
    schedule::step* waits_ = nullptr;
    schedule::sequence_t next_ = 0;
};

// Runs one algorithm on all ranks of a simulated machine.
class group {
public:
    explicit group(rank_t ranks, task (*body)(member&, const call&), std::uint64_t seed = 0)
        : row_(row_of(body)), net_(machine_of(ranks, seed)) {
        for (rank_t rank = 0; rank < ranks; ++rank) {
            operations_.emplace_back(net_.fabric(rank), net_.frames());
            REQUIRE(operations_.back().init(row_, {}) == UCS_OK);
        }
    }
    void start() {
        for (operation& each : operations_)
            each.start();
    }
    void run() {
        start();
        net_.run();
    }
    sim::network& net() { return net_; }
    operation& of_rank(rank_t rank) { return operations_[rank]; }
    void expect(ucs_status_t wanted) {
        for (const operation& each : operations_)
            CHECK(each.status() == wanted);
    }

private:
    static sim::machine machine_of(rank_t ranks, std::uint64_t seed) {
        sim::machine made{.ranks = ranks, .seed = seed, .strict = true};
        return made;
    }
    schedule::algorithm row_;
    sim::network net_;
    std::deque<operation> operations_;
};

task send_once(member& me, std::uint32_t& value) {
    const witness frame;
    if (me.rank() == 0)
        co_await me.send(1, &value, sizeof value);
    else
        co_await me.receive(0, &value, sizeof value);
}

task nested(member& me, const call&) {
    const witness frame;
    std::uint32_t value = me.rank() == 0 ? 17 : 0;
    for (int i = 0; i < 3; ++i)
        co_await send_once(me, value);
    if (value != 17) me.owner().fail(UCS_ERR_IO_ERROR);
}

task send_to_one(member& me, const call&) {
    std::uint32_t value = 0;
    co_await send_once(me, value);
}

task two_at_once(member& me, const call&) {
    std::uint32_t a = me.rank() == 0 ? 1 : 0, b = me.rank() == 0 ? 2 : 0;
    member other = me.on_channel(1);
    task first = send_once(me, a);
    task second = send_once(other, b);
    co_await schedule::both(first, second);
    if (a != 1 || b != 2) me.owner().fail(UCS_ERR_IO_ERROR);
}

task silent_rank(member& me, const call&) {
    const witness frame;
    std::uint32_t value = 0;
    // Rank 0 never sends to rank 1. Rank 2 waits for rank 1.
    if (me.rank() == 1) co_await send_once(me, value);
    if (me.rank() == 1) co_await me.send(2, &value, sizeof value);
    if (me.rank() == 2) co_await me.receive(1, &value, sizeof value);
}

task wrong_size(member& me, const call&) {
    std::uint64_t value = 0;
    if (me.rank() == 0) co_await me.send(1, &value, 4);
    if (me.rank() == 1) co_await me.receive(0, &value, 8);
    if (me.rank() == 2) co_await me.receive(1, &value, 8);
}

task too_much_scratch(member& me, const call&) {
    std::byte* memory = me.scratch(1 << 20);
    co_await me.copy(memory, &me, 1);
}

task many_messages(member& me, const call&) {
    schedule::flight moves[1];
    std::vector<std::uint32_t> got(100);
    std::vector<std::uint32_t> sent(100);
    for (std::uint32_t i = 0; i < 100; ++i) {
        schedule::flight& move = moves[0];
        sent[i] = i;
        co_await move;
        if (me.rank() == 0)
            move.send(me, 1, &sent[i], 4);
        else
            move.receive(me, 0, &got[i], 4);
    }
    schedule::flight& move = moves[0];
    co_await move;
    for (std::uint32_t i = 0; me.rank() == 1 && i < 100; ++i)
        if (got[i] != i) me.owner().fail(UCS_ERR_IO_ERROR);
}

task in_part(member& me, const call&) {
    const rank_t ranks[] = {4, 2, 0};
    if (me.rank() % 2 != 0) co_return;
    member part = me.part(ranks, (4 - me.rank()) / 2, 3);
    std::uint32_t out = part.rank(), in = 0;
    co_await part.exchange((part.rank() + 1) % 3, &out, 4, (part.rank() + 2) % 3, &in, 4);
    if (in != (part.rank() + 2) % 3) me.owner().fail(UCS_ERR_IO_ERROR);
}

// Each of three tasks sends a number to the next rank on its own channel.
class three_at_once final : public schedule::program {
public:
    explicit three_at_once(ucs_status_t end = UCS_OK) : end_(end) {}
    [[nodiscard]] task run(member& me) noexcept override {
        const witness frame;
        schedule::task_group all(3);
        co_await schedule::require(me, all.status());
        for (schedule::channel_t channel = 0; channel < 3; ++channel)
            all.add(pass(me, channel));
        co_await all;
        co_await schedule::require(me, end_);
        ++runs;
    }
    unsigned runs = 0;

private:
    static task pass(member& me, schedule::channel_t channel) {
        const witness frame;
        member on = me.on_channel(channel);
        std::uint32_t out = me.rank() * 10 + channel, in = 0;
        const rank_t from = (me.rank() + me.size() - 1) % me.size();
        co_await on.exchange((me.rank() + 1) % me.size(), &out, 4, from, &in, 4);
        co_await schedule::require(me,
                                   in == from * 10 + channel ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED);
    }
    ucs_status_t end_;
};

// An operation over a fabric of the test.
struct lone_operation {
    lone_operation() { REQUIRE(tested.init(row, {}) == UCS_OK); }

    leaves_late net;
    schedule::frame_pool frames;
    const schedule::algorithm row = row_of(send_to_one);
    operation tested{net, frames};
};

}  // namespace

TEST_CASE_METHOD(
    lone_operation,
    "an operation that fails ends so, and only once, also where its last message leaves "
    "meanwhile") {
    tested.on_end(
        [](schedule::runnable& ended, void* argument) {
            if (static_cast<leaves_late*>(argument)->ended.size() == 1) ended.start();
        },
        &net);
    tested.start();
    tested.fail(UCS_ERR_CANCELED);
    CHECK(net.ended == std::vector{UCS_ERR_CANCELED});
    CHECK(
        tested.status() ==
        UCS_INPROGRESS);  // the listener has started it again, and the second start has not failed
    tested.fail(UCS_ERR_TIMED_OUT);
    CHECK(net.ended == std::vector{UCS_ERR_CANCELED, UCS_ERR_TIMED_OUT});
    CHECK(witness::alive == 0);
}

TEST_CASE_METHOD(lone_operation, "an operation that cannot begin fails on all ranks") {
    net.refuses = true;
    tested.start();
    tested.start_failed(UCS_ERR_INVALID_PARAM);
    CHECK(net.announced == std::vector{UCS_ERR_NO_MEMORY, UCS_ERR_NO_MEMORY});
    CHECK(net.ended == net.announced);
}

TEST_CASE("an operation runs a program as often as it is started") {
    sim::machine like{.ranks = 3, .strict = true};
    sim::network net(like);
    std::deque<three_at_once> programs(3);
    std::deque<operation> operations;
    for (rank_t rank = 0; rank < 3; ++rank)
        operations.emplace_back(net.fabric(rank), net.frames()).init(programs[rank]);
    for (unsigned round = 1; round <= 3; ++round) {
        for (operation& each : operations)
            each.start();
        net.run();
        for (rank_t rank = 0; rank < 3; ++rank) {
            CHECK(operations[rank].status() == UCS_OK);
            CHECK(programs[rank].runs == round);
        }
    }
    CHECK(witness::alive == 0);
}

TEST_CASE("a failed require() ends the program") {
    sim::machine like;
    like.ranks = 2;
    sim::network net(like);
    three_at_once well, badly(UCS_ERR_NO_MEMORY);
    std::deque<operation> operations;
    operations.emplace_back(net.fabric(0), net.frames()).init(badly);
    operations.emplace_back(net.fabric(1), net.frames()).init(well);
    operations[0].start();
    operations[1].start();
    net.run();
    CHECK(operations[0].status() == UCS_ERR_NO_MEMORY);
    CHECK(operations[1].status() != UCS_INPROGRESS);  // may have ended before it was notified
    CHECK(badly.runs == 0);
    CHECK(witness::alive == 0);
}

TEST_CASE("an algorithm ends with its status on all ranks") {
    const struct {
        const char* name;
        rank_t ranks;
        task (*body)(member&, const call&);
        ucs_status_t status = UCS_OK;
    } all[] = {
        {"tasks await tasks", 2, nested},
        {"two tasks run at the same time on different channels", 2, two_at_once},
        {"messages of a pair stay in order", 2, many_messages},
        {"a part of a group has its own rank numbers", 5, in_part},
        {"more scratch memory than was asked for is an error", 1, too_much_scratch,
         UCS_ERR_EXCEEDS_LIMIT},
    };
    for (const auto& each : all) {
        INFO(each.name);
        group ranks(each.ranks, each.body);
        ranks.run();
        ranks.expect(each.status);
        CHECK(witness::alive == 0);
    }
}

TEST_CASE("frames are used again when an operation is started again") {
    group ranks(2, nested);
    ranks.run();
    const std::size_t allocated = ranks.net().frames().allocated_blocks();
    for (int i = 0; i < 10; ++i)
        ranks.run();
    ranks.expect(UCS_OK);
    CHECK(ranks.net().frames().allocated_blocks() == allocated);
}

TEST_CASE("a message of the wrong size ends the operation everywhere") {
    group ranks(3, wrong_size);
    ranks.run();
    CHECK(ranks.of_rank(1).status() == UCS_ERR_MESSAGE_TRUNCATED);
    CHECK(ranks.of_rank(2).status() == UCS_ERR_MESSAGE_TRUNCATED);
}

TEST_CASE("a waiting operation is canceled on all ranks, and no frame is left") {
    group ranks(3, silent_rank);
    ranks.run();
    CHECK(ranks.of_rank(0).status() == UCS_OK);
    CHECK(ranks.of_rank(1).status() == UCS_INPROGRESS);
    CHECK(ranks.of_rank(2).status() == UCS_INPROGRESS);
    CHECK(ranks.of_rank(1).missing() == std::vector<rank_t>{0});
    CHECK(ranks.of_rank(2).missing() == std::vector<rank_t>{1});
    ranks.of_rank(1).fail(UCS_ERR_CANCELED);
    CHECK(ranks.of_rank(1).status() == UCS_ERR_CANCELED);
    ranks.net().run();
    CHECK(ranks.of_rank(2).status() == UCS_ERR_CANCELED);
    CHECK(witness::alive == 0);
}

TEST_CASE("a rank that starts an operation that failed elsewhere is notified") {
    group ranks(3, silent_rank);
    ranks.of_rank(0).start();
    ranks.of_rank(1).start();
    ranks.net().run();
    ranks.of_rank(1).fail(UCS_ERR_TIMED_OUT);
    ranks.net().run();
    ranks.of_rank(2).start();
    CHECK(ranks.of_rank(2).status() == UCS_ERR_TIMED_OUT);
}

TEST_CASE("the listener of an operation may start it again") {
    static int ends;
    ends = 0;
    group ranks(2, nested);
    const auto again = [](schedule::runnable& ended, void*) {
        if (++ends < 6) ended.start();
    };
    ranks.of_rank(0).on_end(again, nullptr);
    ranks.of_rank(1).on_end(again, nullptr);
    ranks.run();
    ranks.expect(UCS_OK);
    CHECK(ends == 7);
}
