#include "tools/common/affinity.hpp"

#include <fmt/format.h>
#include <numa.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "tools/common/failure.hpp"

namespace tools {
namespace {

std::unique_ptr<bitmask, decltype(&::numa_bitmask_free)> no_cpus() {
    return {::numa_allocate_cpumask(), ::numa_bitmask_free};
}

}  // namespace

void check_cpus(char letter, const std::vector<unsigned>& cpus) {
    if (cpus.empty()) return;
    const std::vector<unsigned> allowed = allowed_cpus();
    for (const unsigned cpu : cpus) {
        if (std::ranges::binary_search(allowed, cpu)) continue;
        throw usage_error(
            fmt::format("-{}: processor {} is not one this process may use", letter, cpu));
    }
}

std::vector<unsigned> allowed_cpus() {
    const auto allowed = no_cpus();
    if (::numa_sched_getaffinity(0, allowed.get()) < 0)
        throw failure(fmt::format("sched_getaffinity: {}", std::strerror(errno)));
    std::vector<unsigned> made;
    for (unsigned cpu = 0; cpu < allowed->size; ++cpu)
        if (::numa_bitmask_isbitset(allowed.get(), cpu) != 0) made.push_back(cpu);
    return made;
}

void pin_thread(const std::vector<unsigned>& cpus, unsigned index, unsigned threads) {
    if (cpus.empty()) return;
    const auto chosen = no_cpus();
    if (cpus.size() >= threads && threads > 1) {
        ::numa_bitmask_setbit(chosen.get(), cpus[index]);
    } else {
        for (const unsigned cpu : cpus)
            ::numa_bitmask_setbit(chosen.get(), cpu);
    }
    if (::numa_sched_setaffinity(0, chosen.get()) >= 0) return;
    throw failure(fmt::format("sched_setaffinity: {}", std::strerror(errno)));
}

}  // namespace tools
