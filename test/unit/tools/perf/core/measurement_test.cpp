#include "tools/perf/core/measurement.hpp"

#include <catch2/catch.hpp>

using namespace tools::perf;

TEST_CASE("latency is half a round trip") {
    const measurement m = measure(quantity::latency, 1 << 20, 1, {100, 1e-3}, {1000, 4e-3}, 2e-6);
    CHECK(m.iterations == 1000);
    CHECK(m.percentile == Approx(1.0));
    CHECK(m.average == Approx(5.0));
    CHECK(m.overall == Approx(2.0));
    CHECK(m.average_rate == Approx(200000));
    CHECK(m.overall_rate == Approx(500000));
    CHECK(m.overall_bandwidth == Approx(500000));
}

TEST_CASE("bandwidth counts messages of all threads") {
    const measurement m = measure(quantity::bandwidth, 1 << 19, 4, {10, 1e-3}, {100, 5e-3}, 3e-6);
    CHECK(m.percentile == Approx(3.0));
    CHECK(m.overall == Approx(50.0));
    CHECK(m.overall_rate == Approx(80000));
    CHECK(m.overall_bandwidth == Approx(40000));
    CHECK(m.average_rate == Approx(40000));
}

TEST_CASE("no time and no iterations give zeros, not infinities") {
    const measurement m = measure(quantity::latency, 8, 1, {0, 0}, {0, 0}, 0);
    CHECK(m.average == 0);
    CHECK(m.overall_rate == 0);
    CHECK(m.overall_bandwidth == 0);
}
