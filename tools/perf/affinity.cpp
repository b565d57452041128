#include "tools/perf/affinity.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

// A processor set of any size: hosts with more than CPU_SETSIZE processors exist.
class cpu_set {
public:
    cpu_set() : set_(CPU_ALLOC(limit), [](cpu_set_t* set) { CPU_FREE(set); }) {
        CPU_ZERO_S(size(), set_.get());
    }
    void add(unsigned cpu) { CPU_SET_S(cpu, size(), set_.get()); }
    [[nodiscard]] bool has(unsigned cpu) const {
        return cpu < limit && CPU_ISSET_S(cpu, size(), set_.get());
    }
    [[nodiscard]] cpu_set_t* get() const { return set_.get(); }
    [[nodiscard]] static std::size_t size() { return CPU_ALLOC_SIZE(limit); }

private:
    static constexpr unsigned limit = 65537;
    std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

}  // namespace

void check_cpus(const std::vector<unsigned>& cpus) {
    if (cpus.empty()) return;
    cpu_set allowed;
    if (::sched_getaffinity(0, cpu_set::size(), allowed.get()) != 0) {
        throw failure(fmt::format("sched_getaffinity: {}", std::strerror(errno)));
    }
    for (const unsigned cpu : cpus) {
        if (allowed.has(cpu)) continue;
        throw usage_error(fmt::format("-c: processor {} is not one this process may use", cpu));
    }
}

void pin_thread(const std::vector<unsigned>& cpus, unsigned index, unsigned threads) {
    if (cpus.empty()) return;
    cpu_set chosen;
    if (cpus.size() >= threads && threads > 1) {
        chosen.add(cpus[index]);
    } else {
        for (const unsigned cpu : cpus)
            chosen.add(cpu);
    }
    if (::sched_setaffinity(0, cpu_set::size(), chosen.get()) == 0) return;
    throw failure(fmt::format("sched_setaffinity: {}", std::strerror(errno)));
}

}  // namespace tools::perf
