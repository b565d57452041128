#include "tools/perf/core/meter.hpp"

namespace tools::perf {

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
