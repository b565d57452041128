// Measures the time of the iterations of one thread, samples it, and computes the results.
#pragma once

#include <array>
#include <cstddef>

#include "tools/common/ticks.hpp"

namespace tools::perf {

// Keeps every k-th duration of the run. k doubles each time the array is full, so runs of any
// length are sampled evenly, and add() costs a mask and a rare store. One thread.
class sampler {
public:
    static constexpr std::size_t capacity = 16384;

    void add(std::uint64_t ticks) noexcept {
        if ((seen_++ & skip_mask_) != 0) return;
        samples_[used_++] = ticks;
        if (used_ == capacity) thin_out();
    }

    void clear() noexcept;

    // Returns the smallest kept duration that is at least as long as `rank` percent of the kept
    // ones; 0 if empty.
    [[nodiscard]] std::uint64_t percentile(double rank) const;

    [[nodiscard]] std::size_t size() const noexcept { return used_; }

private:
    void thin_out() noexcept;

    std::uint64_t seen_ = 0;
    std::uint64_t skip_mask_ = 0;
    std::size_t used_ = 0;
    std::array<std::uint64_t, capacity> samples_{};
};

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

// The parameters of a meter: quantity to compute, and whether to report during the run.
struct meter_setup {
    quantity measured = quantity::latency;
    std::size_t message_size = 0;
    double rank = 50;
    unsigned thread = 0;
    bool progress_rows = false;  // about one row per second
};

// Receives the rows of a running test. Any thread.
class row_sink {
public:
    virtual void progress(unsigned thread, const measurement& row) = 0;

protected:
    ~row_sink() = default;
};

// One thread owns it. step() is part of the measured loop: it reads the counter, keeps a sample
// and compares.
class meter {
public:
    meter(const meter_setup& setup, row_sink& rows) noexcept : setup_(setup), rows_(rows) {}

    void start() noexcept;

    // Records the end of an iteration.
    void step() noexcept {
        const std::uint64_t now = read_ticks();
        samples_.add(now - previous_);
        previous_ = now;
        ++done_;
        if (now >= next_row_) [[unlikely]] {
            report(now);
        }
    }

    // Records the end of the run.
    void finish() noexcept;

    // Returns the row of the whole run.
    [[nodiscard]] measurement result() const;

    // Start and end of the run by the monotonic clock, to combine the runs of several threads.
    [[nodiscard]] std::uint64_t start_ns() const noexcept { return start_ns_; }
    [[nodiscard]] std::uint64_t end_ns() const noexcept { return end_ns_; }
    [[nodiscard]] std::uint64_t iterations() const noexcept { return done_; }

private:
    void report(std::uint64_t now) noexcept;
    [[nodiscard]] measurement row_until(std::uint64_t now_ticks) const;

    const meter_setup setup_;
    row_sink& rows_;
    std::uint64_t previous_ = 0;
    std::uint64_t done_ = 0;
    std::uint64_t next_row_ = ~std::uint64_t{0};
    std::uint64_t start_ticks_ = 0;
    std::uint64_t last_row_ticks_ = 0;
    std::uint64_t last_row_done_ = 0;
    std::uint64_t row_interval_ = 0;
    std::uint64_t start_ns_ = 0;
    std::uint64_t end_ns_ = 0;
    sampler samples_;
};

}  // namespace tools::perf
