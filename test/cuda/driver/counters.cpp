#include "test/cuda/driver/counters.hpp"

#include <array>
#include <atomic>

#include "test/cuda/driver/standin.h"

namespace standin {
namespace {

std::array<std::atomic<unsigned long long>, static_cast<std::size_t>(function::count)> calls{};

}  // namespace

void count_call(function called) noexcept {
    calls[static_cast<std::size_t>(called)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace standin

unsigned long long standin_calls(const char* symbol) {
    using namespace standin;
    unsigned long long sum = 0;
    for (std::size_t index = 0; index < calls.size(); ++index)
        if (symbol == nullptr || find_function(symbol) == static_cast<function>(index))
            sum += calls[index].load(std::memory_order_relaxed);
    return sum;
}

void standin_reset_calls() {
    for (auto& each : standin::calls)
        each.store(0, std::memory_order_relaxed);
}
