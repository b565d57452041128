#include "ucg/schedule/arena.hpp"

#include <catch2/catch.hpp>
#include <deque>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/beside.hpp"
#include "ucg/sim/network.hpp"

using namespace ucg;
using schedule::arena;
using schedule::call;
using schedule::member;
using schedule::operation;
using schedule::task;

TEST_CASE("an arena gives aligned pieces, all of it, and again after it was cleared") {
    alignas(std::max_align_t) std::byte memory[arena::for_pieces_of(100)];
    arena of(memory, sizeof memory);
    std::byte* const first = of.take(3);
    std::byte* const second = of.take(97);
    CHECK(first == memory);
    CHECK(second == memory + alignof(std::max_align_t));
    CHECK(of.take(sizeof memory) == nullptr);
    CHECK(of.take(0) != nullptr);
    of.clear();
    CHECK(of.take(sizeof memory) == memory);
    CHECK(of.take(1) == nullptr);
}

namespace {

task pass_on(member& me, unsigned* ended) {
    std::byte* const piece = me.scratch(16);
    *piece = std::byte{1};
    co_await me.exchange(1 - me.rank(), nullptr, nullptr, 0);
    ++*ended;
}

// Two at the same time over channels of their own, twice, in the same memory.
task two_beside(member& me, const call& what) {
    std::byte* const memory = me.scratch(2 * arena::for_pieces_of(16));
    arena rooms[2] = {{memory, arena::for_pieces_of(16)},
                      {memory + arena::for_pieces_of(16), arena::for_pieces_of(16)}};
    member lanes[2] = {me.on(0).with(rooms[0]), me.on(1).with(rooms[1])};
    schedule::beside moving[2];
    auto* const ended = static_cast<unsigned*>(what.into);
    for (unsigned round = 0; round < 2; ++round) {
        for (unsigned i = 0; i < 2; ++i) {
            rooms[i].clear();
            moving[i].begin(lanes[i], pass_on(lanes[i], ended));
        }
        co_await moving[1];
        co_await moving[0];
    }
}

task takes_too_much(member& me, const call&) {
    alignas(std::max_align_t) std::byte memory[64];
    arena room(memory, sizeof memory);
    member one = me.with(room);
    (void)one.scratch(65);
    co_await me.exchange(1 - me.rank(), nullptr, nullptr, 0);
}

struct pair {
    sim::network net;
    schedule::algorithm by;
    unsigned ended[2] = {};
    std::deque<operation> operations;

    explicit pair(task (*run)(member&, const call&))
        : net([] {
              sim::machine on;
              on.strict = true;
              return on;
          }()),
          by{schedule::collective::barrier,
             "test",
             run,
             [](const call&, schedule::rank_t, schedule::rank_t) {
                 return 2 * arena::for_pieces_of(16);
             },
             schedule::condition::none,
             nullptr} {
        for (schedule::rank_t rank = 0; rank < 2; ++rank) {
            call what;
            what.into = &ended[rank];
            operations.emplace_back(net.of(rank), net.frames());
            REQUIRE(operations.back().init(by, what) == UCS_OK);
        }
        for (operation& each : operations)
            each.start();
    }
};

}  // namespace

TEST_CASE("tasks run beside the one that began them, and can be begun again") {
    pair both(two_beside);
    both.net.run();
    for (unsigned rank = 0; rank < 2; ++rank) {
        CHECK(both.operations[rank].status() == UCS_OK);
        CHECK(both.ended[rank] == 4);
    }
}

TEST_CASE("an operation that dies takes the tasks beside with it") {
    pair both(two_beside);
    both.operations[0].fail(UCS_ERR_TIMED_OUT);
    both.net.run();
    CHECK(both.operations[0].status() == UCS_ERR_TIMED_OUT);
    CHECK(both.operations[1].status() == UCS_ERR_TIMED_OUT);
}

TEST_CASE("to take more than an arena has is a failure of the operation") {
    pair both(takes_too_much);
    both.net.run();
    CHECK(both.operations[0].status() == UCS_ERR_EXCEEDS_LIMIT);
}
