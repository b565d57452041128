#include "ucs/datastruct/event_queue.hpp"

#include <catch2/catch.hpp>

#include "ucs/random/seeded.hpp"

TEST_CASE("events come in the order of time, and events of equal time in the order of insertion") {
    struct event {
        std::uint64_t when = 0, order = 0;
    };
    ucs::datastruct::event_queue<event> queue;
    ucs::sys::random numbers(7);
    for (std::uint64_t i = 0; i < 1000; ++i)
        queue.push({numbers.below(50), i});
    event last{};
    // Some events are added while others are taken.
    for (std::uint64_t i = 0; !queue.empty(); ++i) {
        const event next = queue.pop();
        const bool in_order =
            next.when > last.when || (next.when == last.when && next.order >= last.order);
        if (!in_order) FAIL("event " << i << " comes too late");
        last = next;
        if (i < 500) {
            queue.push({next.when + numbers.below(20), 1000 + i});
        }
    }
    SUCCEED();
}
