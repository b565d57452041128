#include "ucp/wakeup/yield_schedule.hpp"

#include <catch2/catch.hpp>

using ucp::wakeup::yield_schedule;

namespace {

constexpr auto unused = yield_schedule::unused_yield / 10;
constexpr auto used = 100 * yield_schedule::unused_yield;

// Yields `count` times, each as soon as it is due and for `duration`. Returns the pause before the
// last yield.
ucs::time::nanoseconds yield_often(yield_schedule& schedule, ucs::time::nanoseconds& now,
                                   unsigned count, ucs::time::nanoseconds duration) {
    ucs::time::nanoseconds pause = 0;
    for (unsigned i = 0; i < count; ++i) {
        const auto ended = now;
        while (!schedule.is_due(now))
            now += ucs::time::microsecond;
        pause = now - ended;
        schedule.learn(now, now + duration);
        now += duration;
    }
    return pause;
}

}  // namespace

TEST_CASE("a worker yields as soon as it is idle for the first time", "[wakeup]") {
    CHECK(yield_schedule{}.is_due(0));
}

TEST_CASE("yields become rare when no other thread wants the processor", "[wakeup]") {
    yield_schedule schedule;
    ucs::time::nanoseconds now = 0;
    CHECK(yield_often(schedule, now, 20, unused) == yield_schedule::longest);
}

TEST_CASE("yields stay frequent while other threads use them", "[wakeup]") {
    yield_schedule schedule;
    ucs::time::nanoseconds now = 0;
    CHECK(yield_often(schedule, now, 20, used) == yield_schedule::shortest);
}

TEST_CASE("one yield that another thread used makes yields frequent again", "[wakeup]") {
    yield_schedule schedule;
    ucs::time::nanoseconds now = 0;
    yield_often(schedule, now, 20, unused);
    yield_often(schedule, now, 1, used);
    CHECK(yield_often(schedule, now, 1, used) == yield_schedule::shortest);
}
