#include "tools/perf/core/meter.hpp"

#include <catch2/catch.hpp>
#include <memory>

using namespace tools;
using namespace tools::perf;

namespace {

struct no_rows final : row_sink {
    void progress(unsigned, const measurement&) override { ++rows; }
    unsigned rows = 0;
};

}  // namespace

TEST_CASE("a meter counts only the iterations of the run") {
    no_rows rows;
    const auto times =
        std::make_unique<meter>(meter_setup{quantity::bandwidth, 8, 50, 0, false}, rows);
    for (int run = 1; run <= 2; ++run) {
        times->start();
        for (int iteration = 0; iteration < 1000 * run; ++iteration)
            times->step();
        times->finish();
        CHECK(times->iterations() == 1000U * static_cast<unsigned>(run));
        CHECK(times->end_ns() >= times->start_ns());
        const measurement result = times->result();
        CHECK(result.iterations == times->iterations());
        CHECK(result.overall > 0);
        CHECK(result.average == Approx(result.overall));
    }
    CHECK(rows.rows == 0);
}

TEST_CASE("the length of a tick agrees with the monotonic clock") {
    const std::uint64_t ticks = read_ticks();
    const std::uint64_t ns = monotonic_ns();
    const double tick = nanoseconds_per_tick();
    // The first call of nanoseconds_per_tick() takes some milliseconds, which serve as the
    // interval.
    std::uint64_t now = monotonic_ns();
    while (now - ns < 2'000'000)
        now = monotonic_ns();
    const double measured = static_cast<double>(read_ticks() - ticks) * tick;
    CHECK(measured >= 0.9 * static_cast<double>(now - ns));
}

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

TEST_CASE("percentiles of few samples are exact") {
    const auto samples = std::make_unique<sampler>();
    CHECK(samples->percentile(50) == 0);
    for (std::uint64_t value = 100; value >= 1; --value)
        samples->add(value);
    CHECK(samples->percentile(0) == 1);
    CHECK(samples->percentile(1) == 1);
    CHECK(samples->percentile(50) == 50);
    CHECK(samples->percentile(99) == 99);
    CHECK(samples->percentile(99.5) == 100);
    CHECK(samples->percentile(100) == 100);
}

TEST_CASE("a long stream is sampled evenly over its whole length") {
    const auto samples = std::make_unique<sampler>();
    constexpr std::uint64_t count = 1'000'000;
    for (std::uint64_t value = 0; value < count; ++value)
        samples->add(value);
    CHECK(samples->size() >= sampler::capacity / 2);
    CHECK(samples->size() < sampler::capacity);
    for (const double rank : {1.0, 25.0, 50.0, 75.0, 99.0}) {
        const auto found = static_cast<double>(samples->percentile(rank));
        CHECK(found == Approx(rank / 100 * count).margin(0.001 * count));
    }
}

TEST_CASE("a cleared sampler is like a new one") {
    const auto samples = std::make_unique<sampler>();
    for (std::uint64_t value = 0; value < 3 * sampler::capacity; ++value)
        samples->add(7);
    samples->clear();
    CHECK(samples->size() == 0);
    samples->add(3);
    samples->add(4);
    CHECK(samples->size() == 2);
    CHECK(samples->percentile(100) == 4);
}
