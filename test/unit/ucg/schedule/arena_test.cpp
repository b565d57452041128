#include "ucg/schedule/arena.hpp"

#include <catch2/catch.hpp>
#include <deque>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/task_group.hpp"
#include "ucg/sim/network.hpp"

using namespace ucg;
using namespace schedule;

TEST_CASE("an arena allocates all its memory in aligned pieces, and again after clear()") {
    alignas(std::max_align_t) std::byte memory[arena::for_pieces_of(100)];
    arena pieces(memory, sizeof memory);
    std::byte* const first = pieces.take(3);
    std::byte* const second = pieces.take(97);
    CHECK(first == memory);
    CHECK(second == memory + alignof(std::max_align_t));
    CHECK(pieces.take(sizeof memory) == nullptr);
    CHECK(pieces.take(0) != nullptr);
    pieces.clear();
    CHECK(pieces.take(sizeof memory) == memory);
    CHECK(pieces.take(1) == nullptr);
}

namespace {

task pass_on(member& me, unsigned* ended) {
    std::byte* const piece = me.scratch(16);
    *piece = std::byte{1};
    co_await me.exchange(1 - me.rank(), nullptr, nullptr, 0);
    ++*ended;
}

// Runs two tasks at the same time on different channels, twice, in the same memory.
task two_concurrent(member& me, const call& args) {
    std::byte* const memory = me.scratch(2 * arena::for_pieces_of(16));
    arena arenas[2] = {{memory, arena::for_pieces_of(16)},
                       {memory + arena::for_pieces_of(16), arena::for_pieces_of(16)}};
    member lanes[2] = {me.on_channel(0).with(arenas[0]), me.on_channel(1).with(arenas[1])};
    schedule::concurrent_task moving[2];
    auto* const ended = static_cast<unsigned*>(args.into);
    for (unsigned round = 0; round < 2; ++round) {
        for (unsigned i = 0; i < 2; ++i) {
            arenas[i].clear();
            moving[i].begin(lanes[i], pass_on(lanes[i], ended));
        }
        co_await moving[1];
        co_await moving[0];
    }
}

task takes_too_much(member& me, const call&) {
    alignas(std::max_align_t) std::byte memory[64];
    arena pieces(memory, sizeof memory);
    member one = me.with(pieces);
    (void)one.scratch(65);
    co_await me.exchange(1 - me.rank(), nullptr, nullptr, 0);
}

struct pair {
    sim::network net;
    schedule::algorithm row;
    unsigned ended[2] = {};
    std::deque<operation> operations;

    explicit pair(task (*run)(member&, const call&))
        : net([] {
              sim::machine on;
              on.strict = true;
              return on;
          }()),
          row{schedule::collective::barrier,
              "test",
              run,
              [](const call&, schedule::rank_t, schedule::rank_t) {
                  return 2 * arena::for_pieces_of(16);
              },
              schedule::condition::none,
              nullptr} {
        for (schedule::rank_t rank = 0; rank < 2; ++rank) {
            call args;
            args.into = &ended[rank];
            operations.emplace_back(net.fabric(rank), net.frames());
            REQUIRE(operations.back().init(row, args) == UCS_OK);
        }
        for (operation& each : operations)
            each.start();
    }
};

}  // namespace

TEST_CASE("concurrent tasks run with the task that began them, and can be begun again") {
    pair both(two_concurrent);
    both.net.run();
    for (unsigned rank = 0; rank < 2; ++rank) {
        CHECK(both.operations[rank].status() == UCS_OK);
        CHECK(both.ended[rank] == 4);
    }
}

TEST_CASE("a failed operation ends its concurrent tasks") {
    pair both(two_concurrent);
    both.operations[0].fail(UCS_ERR_TIMED_OUT);
    both.net.run();
    CHECK(both.operations[0].status() == UCS_ERR_TIMED_OUT);
    CHECK(both.operations[1].status() == UCS_ERR_TIMED_OUT);
}

TEST_CASE("an operation fails if it takes more memory than its arena has") {
    pair both(takes_too_much);
    both.net.run();
    CHECK(both.operations[0].status() == UCS_ERR_EXCEEDS_LIMIT);
}
