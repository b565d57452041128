// The numbers of one result row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tools::perf {

// What a test reports about one iteration: half a round trip, the time of an operation that has an
// answer, or the time per message.
enum class quantity : std::uint8_t { latency, operation, bandwidth };

// Iterations and the time they took.
struct span_of_work {
    std::uint64_t iterations = 0;
    double seconds = 0;
};

// Times in microseconds, bandwidth in units of 2^20 bytes per second, rates in messages per
// second. "average" covers the time since the row before, "overall" the whole run.
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

// `threads` threads each did `overall.iterations`. `sampled_seconds` is the percentile of the
// duration of an iteration.
[[nodiscard]] measurement measure(quantity what, std::size_t message_size, unsigned threads,
                                  span_of_work since_last, span_of_work overall,
                                  double sampled_seconds) noexcept;

}  // namespace tools::perf
