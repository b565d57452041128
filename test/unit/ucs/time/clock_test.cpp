#include "ucs/time/clock.hpp"

#include <catch2/catch.hpp>
#include <limits>

namespace time_ = ucs::time;

namespace {

time_::nanoseconds frozen() noexcept {
    return 42;
}

}  // namespace

TEST_CASE("the clock never goes back") {
    time_::nanoseconds last = time_::now();
    for (int i = 0; i < 100000; ++i) {
        const time_::nanoseconds current = time_::now();
        REQUIRE(current >= last);
        last = current;
    }
}

TEST_CASE("a simulation can install its own clock") {
    time_::set_clock(frozen);
    const time_::nanoseconds seen = time_::now();
    time_::set_clock(nullptr);
    CHECK(seen == 42);
    CHECK(time_::now() != 42);
    CHECK(time_::since_epoch() > 1'600'000'000 * time_::second);
}

TEST_CASE("seconds convert without overflow") {
    CHECK(time_::from_seconds(1.5) == 1'500'000'000);
    CHECK(time_::from_seconds(-1) == 0);
    CHECK(time_::from_seconds(std::numeric_limits<double>::quiet_NaN()) == 0);
    CHECK(time_::from_seconds(std::numeric_limits<double>::infinity()) == ~time_::nanoseconds{0});
    CHECK(time_::to_seconds(2'500'000'000) == Approx(2.5));
}

TEST_CASE("thread time counts work, not waiting") {
    const time_::nanoseconds begin = time_::thread_time();
    while (time_::thread_time() < begin + 100 * time_::microsecond) {
    }
    const time_::nanoseconds used = time_::thread_time();
    time_::set_clock(frozen);
    CHECK(time_::thread_time() >= used);
    time_::set_clock(nullptr);
}
