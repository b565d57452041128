// Runs the threads of one side of a test.
#pragma once

#include <functional>

#include "tools/perf/core/stop_flag.hpp"

namespace tools::perf {

// A barrier for the threads of a team. Waiting threads call a function, such as progress.
class thread_barrier {
public:
    explicit thread_barrier(unsigned size) noexcept : size_(size) {}

    // Waits until all threads have arrived. Calls `idle` meanwhile. Throws stopped if the flag is
    // set.
    template<class Idle>
    void wait(const stop_flag& stop, Idle&& idle) {
        const unsigned round = round_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        while (round_.load(std::memory_order_acquire) == round) {
            if (stop.requested()) throw stopped();
            idle();
        }
    }

private:
    const unsigned size_;
    std::atomic<unsigned> arrived_{0};
    std::atomic<unsigned> round_{0};
};

// Runs body(0) in this thread and body(1) ... body(size - 1) in new threads, and waits for all.
// Rethrows the first exception. A failing thread sets `stop`.
void run_team(unsigned size, stop_flag& stop, const std::function<void(unsigned)>& body);

}  // namespace tools::perf
