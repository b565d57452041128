// A fixed-size, even sample of a stream of durations, and its percentiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

}  // namespace tools::perf
