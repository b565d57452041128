#include "ucs/time/clock.hpp"

#include <time.h>

namespace ucs::time {
namespace {

constinit std::atomic<clock_function> virtual_clock{nullptr};

nanoseconds read(clockid_t clock) noexcept {
    timespec value{};
    (void)::clock_gettime(clock, &value);
    return static_cast<nanoseconds>(value.tv_sec) * second +
           static_cast<nanoseconds>(value.tv_nsec);
}

constinit std::atomic<yield_function> simulated{nullptr};

}  // namespace

nanoseconds now() noexcept {
    const clock_function clock = virtual_clock.load(std::memory_order_relaxed);
    return clock == nullptr ? read(CLOCK_MONOTONIC) : clock();
}

void set_clock(clock_function clock) noexcept {
    virtual_clock.store(clock, std::memory_order_relaxed);
}

nanoseconds thread_time() noexcept {
    return read(CLOCK_THREAD_CPUTIME_ID);
}

nanoseconds since_epoch() noexcept {
    return read(CLOCK_REALTIME);
}

void simulation_yield() noexcept {
    if (const yield_function yield = simulated.load(std::memory_order_relaxed); yield != nullptr)
        yield();
}

void set_simulation_yield(yield_function yield) noexcept {
    simulated.store(yield, std::memory_order_relaxed);
}

}  // namespace ucs::time
