// The results of one row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tools::perf {

// The quantity that a test reports per iteration: half a round trip, the time of an operation with
// a reply, or the time per message.
enum class quantity : std::uint8_t { latency, operation, bandwidth };

// Iterations and the time they took.
struct span_of_work {
    std::uint64_t iterations = 0;
    double seconds = 0;
};

// Times in microseconds, bandwidth in units of 2^20 bytes per second, rates in messages per second.
// "average" covers the time since the previous row, "overall" the whole run.
struct measurement {
    std::uint64_t iterations = 0;
    double percentile = 0;
    double average = 0;
    double overall = 0;
    double average_bandwidth = 0;
    double overall_bandwidth = 0;
    double average_rate = 0;
    double overall_rate = 0;
};

// Each of `threads` threads did `overall.iterations`. `sampled_seconds` is the percentile of the
// duration of an iteration.
[[nodiscard]] measurement measure(quantity measured, std::size_t message_size, unsigned threads,
                                  span_of_work since_last, span_of_work overall,
                                  double sampled_seconds) noexcept;

}  // namespace tools::perf
