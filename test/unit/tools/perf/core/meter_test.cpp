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
