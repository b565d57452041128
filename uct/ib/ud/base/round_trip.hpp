// Estimate of the round trip time, and the retransmission timeout.
#pragma once

#include <algorithm>

#include "ucs/time/clock.hpp"

namespace uct::ud {

// The smoothed round trip time and the timeout that follows it, by the rules of RFC 6298 with
// bounds for local networks: the smoothed time plus four times its mean deviation, doubled for each
// timeout in a row. Value type.
class round_trip {
public:
    struct limits {
        ucs::time::nanoseconds first = 20 * ucs::time::millisecond;  // before the first measurement
        ucs::time::nanoseconds least = 4 * ucs::time::millisecond;
        ucs::time::nanoseconds most = ucs::time::second;
    };
    explicit round_trip(const limits& with) noexcept : with_(with) {}

    // Adds the time from a packet that was sent once to its acknowledgement.
    void measured(ucs::time::nanoseconds time) noexcept {
        if (smoothed_ == 0) {
            smoothed_ = std::max<ucs::time::nanoseconds>(time, 1);
            deviation_ = time / 2;
            return;
        }
        const ucs::time::nanoseconds apart = smoothed_ > time ? smoothed_ - time : time - smoothed_;
        deviation_ = (3 * deviation_ + apart) / 4;
        smoothed_ = (7 * smoothed_ + time) / 8;
    }
    void increase_backoff() noexcept { backoff_ = std::min(backoff_ + 1, most_backoff); }
    void reset_backoff() noexcept { backoff_ = 0; }

    // Returns how long to wait for a reply.
    [[nodiscard]] ucs::time::nanoseconds timeout() const noexcept {
        const ucs::time::nanoseconds plain =
            smoothed_ == 0 ? with_.first
                           : std::clamp(smoothed_ + 4 * deviation_, with_.least, with_.most);
        return std::min(plain << backoff_, with_.most);
    }
    // 0: nothing was measured.
    [[nodiscard]] ucs::time::nanoseconds smoothed() const noexcept { return smoothed_; }
    [[nodiscard]] unsigned backoff() const noexcept { return backoff_; }

private:
    static constexpr unsigned most_backoff = 16;

    const limits with_;
    ucs::time::nanoseconds smoothed_ = 0;
    ucs::time::nanoseconds deviation_ = 0;
    unsigned backoff_ = 0;
};

}  // namespace uct::ud
