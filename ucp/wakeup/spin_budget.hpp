// How long to look for work before sleeping.
#pragma once

#include <algorithm>

#include "ucs/time/clock.hpp"

namespace ucp::wakeup {

// Learns from how the last waits ended. Looking costs processor time, sleeping and waking costs
// some microseconds: who mostly finds work while looking looks longer, who does not stops looking
// and tries again now and then. Pure value; owner context.
class spin_budget {
public:
    static constexpr ucs::time::nanoseconds longest = 50 * ucs::time::microsecond;
    static constexpr ucs::time::nanoseconds shortest = 3 * ucs::time::microsecond;
    static constexpr unsigned sleeps_per_try = 16;

    // For the next wait; 0: sleep at once.
    [[nodiscard]] ucs::time::nanoseconds next() noexcept {
        if (budget_ >= shortest) return budget_;
        if (++slept_ < sleeps_per_try) return 0;
        slept_ = 0;
        return shortest;
    }

    // How a wait ended that was given a budget.
    void learn(bool found_work) noexcept {
        budget_ = found_work ? std::min(longest, 2 * std::max(budget_, shortest)) : budget_ / 2;
    }

private:
    ucs::time::nanoseconds budget_ = longest;
    unsigned slept_ = 0;
};

}  // namespace ucp::wakeup
