// When an idle worker offers its processor to other threads.
#pragma once

#include <algorithm>

#include "ucs/time/clock.hpp"

namespace ucp::wakeup {

// A program that waits in ucp_worker_progress() keeps its processor busy. When more processes run
// than there are processors, the peer that it waits for gets no processor until the time slice
// ends, some milliseconds later. An idle worker therefore yields now and then. The schedule learns
// from the duration of each yield: a long one means that another thread ran, so the next yield
// comes soon; a short one means that no thread wanted the processor, so the next one comes later.
// Pure value; owner context.
class yield_schedule {
public:
    static constexpr ucs::time::nanoseconds shortest = 10 * ucs::time::microsecond;
    static constexpr ucs::time::nanoseconds longest = ucs::time::millisecond;
    // A yield that no other thread uses takes less than this.
    static constexpr ucs::time::nanoseconds unused_yield = 5 * ucs::time::microsecond;

    [[nodiscard]] bool is_due(ucs::time::nanoseconds now) const noexcept { return now >= due_; }

    // Notes a yield that began and ended at these times.
    void learn(ucs::time::nanoseconds began, ucs::time::nanoseconds ended) noexcept {
        const bool used = ended - began >= unused_yield;
        interval_ = used ? shortest : std::min(longest, 2 * interval_);
        due_ = ended + interval_;
    }

private:
    ucs::time::nanoseconds interval_ = shortest;
    ucs::time::nanoseconds due_ = 0;
};

}  // namespace ucp::wakeup
