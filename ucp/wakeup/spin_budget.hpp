// Time to spin (to poll for work) before sleeping.
#pragma once

#include <algorithm>

#include "ucs/time/clock.hpp"

namespace ucp::wakeup {

// Learns from the results of the last waits. Spinning costs processor time; sleeping and waking
// cost some microseconds. If spinning mostly finds work, spin longer; if not, stop spinning and try
// again after some sleeps. Such a try takes longer than waking a peer. Otherwise two processes that
// send to each other, both asleep at first, would sleep every time, because each would give up
// before the other is awake. Pure value; owner context.
class spin_budget {
public:
    static constexpr ucs::time::nanoseconds longest = 100 * ucs::time::microsecond;
    static constexpr ucs::time::nanoseconds shortest = 3 * ucs::time::microsecond;
    static constexpr unsigned sleeps_per_try = 32;

    // Returns the time to spin in the next wait; 0: sleep at once.
    [[nodiscard]] ucs::time::nanoseconds next() noexcept {
        if (budget_ >= shortest) return given_ = budget_;
        if (++slept_ < sleeps_per_try) return given_ = 0;
        slept_ = 0;
        return given_ = longest;
    }

    // Records whether the wait with the last budget found work.
    void learn(bool found_work) noexcept {
        budget_ = found_work ? std::min(longest, 2 * given_) : budget_ / 2;
    }

private:
    ucs::time::nanoseconds budget_ = longest;
    ucs::time::nanoseconds given_ = 0;
    unsigned slept_ = 0;
};

}  // namespace ucp::wakeup
