// Measures the time of the iterations of one thread.
#pragma once

#include "tools/common/ticks.hpp"
#include "tools/perf/core/measurement.hpp"
#include "tools/perf/core/sampler.hpp"

namespace tools::perf {

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
