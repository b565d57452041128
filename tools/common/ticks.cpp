#include "tools/common/ticks.hpp"

#include <ctime>

namespace tools {
namespace {

struct moment {
    std::uint64_t ticks;
    std::uint64_t ns;
};

// Reads both clocks at nearly the same moment: uses the shortest of several attempts.
moment both_clocks() noexcept {
    moment best{};
    std::uint64_t shortest = ~std::uint64_t{0};
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::uint64_t before = read_ticks();
        const std::uint64_t ns = monotonic_ns();
        const std::uint64_t after = read_ticks();
        if (after - before >= shortest) continue;
        shortest = after - before;
        best = {before + shortest / 2, ns};
    }
    return best;
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

double nanoseconds_per_tick() noexcept {
    static const moment start = both_clocks();
    constexpr std::uint64_t baseline_ns = 5'000'000;
    moment now = both_clocks();
    while (now.ns - start.ns < baseline_ns)
        now = both_clocks();
    return static_cast<double>(now.ns - start.ns) / static_cast<double>(now.ticks - start.ticks);
}

}  // namespace tools
