// How long to look for work before sleeping.
#pragma once

#include <algorithm>

#include "ucs/time/clock.hpp"

namespace ucp::wakeup {

// Learns from how the last waits ended. Looking costs processor time, sleeping and waking costs
// some microseconds: who mostly finds work while looking looks longer, who does not stops looking
// and tries again now and then. Such a try takes longer than waking somebody does: two that send to
// each other, both asleep at first, would sleep for ever if each gave up before the other one is
// awake. Pure value; owner context.
class spin_budget {
public:
    static constexpr ucs::time::nanoseconds longest = 100 * ucs::time::microsecond;
    static constexpr ucs::time::nanoseconds shortest = 3 * ucs::time::microsecond;
    static constexpr unsigned sleeps_per_try = 32;

    // For the next wait; 0: sleep at once.
    [[nodiscard]] ucs::time::nanoseconds next() noexcept {
        if (budget_ >= shortest) return given_ = budget_;
        if (++slept_ < sleeps_per_try) return given_ = 0;
        slept_ = 0;
        return given_ = longest;
    }

    // How a wait ended that was given a budget.
    void learn(bool found_work) noexcept {
        budget_ = found_work ? std::min(longest, 2 * given_) : budget_ / 2;
    }

private:
    ucs::time::nanoseconds budget_ = longest;
    ucs::time::nanoseconds given_ = 0;
    unsigned slept_ = 0;
};

}  // namespace ucp::wakeup
