// How fast a rail has been.
#pragma once

#include <algorithm>
#include <cstddef>

#include "ucs/time/clock.hpp"

namespace ucp {

// Follows what one lane takes for the bytes of long transfers, whoever else uses the device. What
// waited behind another piece is counted from that one's end. Value type; owner context.
class rail_speed {
public:
    // A piece that was posted then has ended.
    void observe(std::size_t length, ucs::time::nanoseconds posted,
                 ucs::time::nanoseconds ended) noexcept {
        const double took = ucs::time::to_seconds(ended - std::max(posted, last_end_));
        last_end_ = ended;
        if (took <= 0 || length == 0) return;
        const double sample = took / static_cast<double>(length);
        // Somebody was not scheduled if it takes much longer than usual.
        const double believed = per_byte_ > 0 ? std::min(sample, per_byte_ * outlier) : sample;
        per_byte_ += (per_byte_ > 0 ? weight : 1) * (believed - per_byte_);
    }

    // Bytes per second; 0: nothing was observed yet.
    [[nodiscard]] double bandwidth() const noexcept { return per_byte_ > 0 ? 1 / per_byte_ : 0; }

private:
    static constexpr double weight = 0.25;  // of a new observation
    static constexpr double outlier = 4;

    double per_byte_ = 0;
    ucs::time::nanoseconds last_end_ = 0;
};

}  // namespace ucp
