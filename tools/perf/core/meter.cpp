#include "tools/perf/core/meter.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tools::perf {

void sampler::clear() noexcept {
    seen_ = 0;
    skip_mask_ = 0;
    used_ = 0;
}

void sampler::thin_out() noexcept {
    used_ = capacity / 2;
    for (std::size_t index = 0; index < used_; ++index)
        samples_[index] = samples_[2 * index];
    skip_mask_ = skip_mask_ * 2 + 1;
}

std::uint64_t sampler::percentile(double rank) const {
    if (used_ == 0) return 0;
    std::vector<std::uint64_t> sorted(samples_.begin(),
                                      samples_.begin() + static_cast<std::ptrdiff_t>(used_));
    const double position = std::ceil(rank / 100.0 * static_cast<double>(used_));
    const auto index =
        static_cast<std::ptrdiff_t>(std::clamp(position - 1, 0.0, static_cast<double>(used_ - 1)));
    std::nth_element(sorted.begin(), sorted.begin() + index, sorted.end());
    return sorted[static_cast<std::size_t>(index)];
}

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

void meter::start() noexcept {
    samples_.clear();
    done_ = 0;
    last_row_done_ = 0;
    row_interval_ = static_cast<std::uint64_t>(1e9 / nanoseconds_per_tick());
    start_ns_ = monotonic_ns();
    start_ticks_ = read_ticks();
    previous_ = start_ticks_;
    last_row_ticks_ = start_ticks_;
    next_row_ = setup_.progress_rows ? start_ticks_ + row_interval_ : ~std::uint64_t{0};
}

void meter::finish() noexcept {
    previous_ = read_ticks();
    end_ns_ = monotonic_ns();
}

measurement meter::row_until(std::uint64_t now_ticks) const {
    const double tick = nanoseconds_per_tick() * 1e-9;
    const auto seconds = [tick](std::uint64_t ticks) { return static_cast<double>(ticks) * tick; };
    return measure(setup_.measured, setup_.message_size, 1,
                   {done_ - last_row_done_, seconds(now_ticks - last_row_ticks_)},
                   {done_, seconds(now_ticks - start_ticks_)},
                   seconds(samples_.percentile(setup_.rank)));
}

measurement meter::result() const {
    return row_until(previous_);
}

void meter::report(std::uint64_t now) noexcept {
    try {
        rows_.progress(setup_.thread, row_until(now));
    } catch (...) {
        // A failure to print a row must not end the measurement.
    }
    last_row_ticks_ = now;
    last_row_done_ = done_;
    // The time of the printing above does not count for an iteration.
    previous_ = read_ticks();
    next_row_ = previous_ + row_interval_;
}

}  // namespace tools::perf
