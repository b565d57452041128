// Observed rate of data that flows through shared memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ucp {

// Bytes per second of data that flows through the transport while both sides copy. Starts with a
// guess and follows observations. One per worker; owner context.
class stream_rate {
public:
    explicit stream_rate(double guess) noexcept : used_(guess), current_(guess) {}

    void observe(std::size_t length, double took) noexcept {
        if (took <= 0) return;
        const double sample = static_cast<double>(length) / took;
        current_ += weight * (std::max(sample, current_ / outlier) - current_);
        ++count_;
    }

    // Returns whether predictions made with used() have become wrong; adopt() makes the observed
    // rate the one in use.
    [[nodiscard]] bool outdated() const noexcept {
        return count_ >= 8 && (current_ > used_ * 1.4 || current_ < used_ / 1.4);
    }
    void adopt() noexcept { used_ = current_; }
    [[nodiscard]] double used() const noexcept { return used_; }

private:
    static constexpr double weight = 0.25;  // weight of a new observation
    static constexpr double outlier = 4;    // a smaller sample counts as a quarter of the rate

    double used_;
    double current_;
    std::uint32_t count_ = 0;
};

}  // namespace ucp
