#include "uct/ib/ud/base/round_trip.hpp"

#include <catch2/catch.hpp>

using namespace uct::ud;
using namespace ucs::time;

namespace {

constexpr round_trip::limits bounds{20 * millisecond, 100 * microsecond, 500 * millisecond};

}  // namespace

TEST_CASE("before the first measurement the timeout has its initial value") {
    const round_trip timer(bounds);
    CHECK(timer.timeout() == 20 * millisecond);
    CHECK(timer.smoothed() == 0);
}

TEST_CASE("the first measured round trip counts with half of it as deviation") {
    round_trip timer(bounds);
    timer.measured(millisecond);
    CHECK(timer.smoothed() == millisecond);
    CHECK(timer.timeout() == 3 * millisecond);
}

TEST_CASE("steady round trips bring the timeout near to them, but not below the minimum") {
    round_trip timer(bounds);
    for (int i = 0; i < 200; ++i)
        timer.measured(millisecond);
    CHECK(timer.smoothed() == millisecond);
    CHECK(timer.timeout() < 1'100 * microsecond);
    for (int i = 0; i < 200; ++i)
        timer.measured(5 * microsecond);
    CHECK(timer.timeout() == bounds.least);
}

TEST_CASE("varying round trips make the timeout longer than their mean") {
    round_trip timer(bounds);
    for (int i = 0; i < 200; ++i)
        timer.measured(i % 2 == 0 ? millisecond : 3 * millisecond);
    CHECK(timer.smoothed() > 1'500 * microsecond);
    CHECK(timer.smoothed() < 2'500 * microsecond);
    CHECK(timer.timeout() > 5 * millisecond);
}

TEST_CASE("each timeout without a reply doubles the next one, up to the maximum") {
    round_trip timer(bounds);
    timer.measured(millisecond);
    timer.increase_backoff();
    CHECK(timer.timeout() == 6 * millisecond);
    timer.increase_backoff();
    CHECK(timer.timeout() == 12 * millisecond);
    for (int i = 0; i < 100; ++i)
        timer.increase_backoff();
    CHECK(timer.timeout() == bounds.most);
    timer.reset_backoff();
    CHECK(timer.timeout() == 3 * millisecond);
}
