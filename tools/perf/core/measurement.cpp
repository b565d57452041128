#include "tools/perf/core/measurement.hpp"

namespace tools::perf {
namespace {

double ratio(double above, double below) noexcept {
    return below > 0 ? above / below : 0;
}

}  // namespace

measurement measure(quantity measured, std::size_t message_size, unsigned threads,
                    span_of_work since_last, span_of_work overall,
                    double sampled_seconds) noexcept {
    // An iteration of a latency test is a round trip: two messages, one after the other.
    const double messages_per_iteration = measured == quantity::latency ? 2 : 1;
    const double microseconds = 1e6 / messages_per_iteration;
    const double parallel = messages_per_iteration * threads;
    const double megabytes = static_cast<double>(message_size) / (1024.0 * 1024.0);
    const auto since_count = static_cast<double>(since_last.iterations);
    const auto overall_count = static_cast<double>(overall.iterations);

    measurement result;
    result.iterations = overall.iterations;
    result.percentile = sampled_seconds * microseconds;
    result.average = ratio(since_last.seconds, since_count) * microseconds;
    result.overall = ratio(overall.seconds, overall_count) * microseconds;
    result.average_rate = ratio(since_count, since_last.seconds) * parallel;
    result.overall_rate = ratio(overall_count, overall.seconds) * parallel;
    result.average_bandwidth = result.average_rate * megabytes;
    result.overall_bandwidth = result.overall_rate * megabytes;
    return result;
}

}  // namespace tools::perf
