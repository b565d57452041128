#include "tools/common/affinity.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "tools/common/failure.hpp"

namespace tools {
namespace {

// A processor set of any size: hosts with more than CPU_SETSIZE processors exist.
class cpu_set {
public:
    static constexpr unsigned limit = 65537;

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
    std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

cpu_set read_allowed() {
    cpu_set allowed;
    if (::sched_getaffinity(0, cpu_set::size(), allowed.get()) != 0) {
        throw failure(fmt::format("sched_getaffinity: {}", std::strerror(errno)));
    }
    return allowed;
}

}  // namespace

void check_cpus(char letter, const std::vector<unsigned>& cpus) {
    if (cpus.empty()) return;
    const cpu_set allowed = read_allowed();
    for (const unsigned cpu : cpus) {
        if (allowed.has(cpu)) continue;
        throw usage_error(
            fmt::format("-{}: processor {} is not one this process may use", letter, cpu));
    }
}

std::vector<unsigned> allowed_cpus() {
    const cpu_set allowed = read_allowed();
    std::vector<unsigned> made;
    for (unsigned cpu = 0; cpu < cpu_set::limit; ++cpu)
        if (allowed.has(cpu)) made.push_back(cpu);
    return made;
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

}  // namespace tools
