#include "ucs/time/simulation_yield.hpp"

#include <atomic>

namespace ucs::time {
namespace {

constinit std::atomic<yield_function> simulated{nullptr};

}  // namespace

void simulation_yield() noexcept {
    if (const yield_function yield = simulated.load(std::memory_order_relaxed); yield != nullptr)
        yield();
}

void set_simulation_yield(yield_function yield) noexcept {
    simulated.store(yield, std::memory_order_relaxed);
}

}  // namespace ucs::time
