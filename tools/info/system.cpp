#include <fmt/format.h>

#include "tools/common/ticks.hpp"
#include "tools/info/pages.hpp"
#include "ucs/arch/cpu.hpp"
#include "ucs/time/clock.hpp"

namespace tools::info {
namespace {

// Nanoseconds per call of the library's clock.
double clock_cost() {
    constexpr int calls = 100'000;
    const std::uint64_t start = monotonic_ns();
    for (int call = 0; call < calls; ++call)
        static_cast<void>(ucs::time::now());
    return static_cast<double>(monotonic_ns() - start) / calls;
}

void print_cache(const char* name, std::size_t bytes) {
    if (bytes == 0) return;
    fmt::print("# {}: {} KB\n", name, bytes / 1024);
}

}  // namespace

void print_system() {
    fmt::print("# Timer frequency: {:.3f} MHz\n", 1e3 / nanoseconds_per_tick());
    fmt::print("# Clock: CLOCK_MONOTONIC, {:.0f} nsec per call\n", clock_cost());
    const ucs::arch::cpu_identity& cpu = ucs::arch::cpu();
    fmt::print("# CPU vendor: {}\n", ucs::arch::vendor_name(cpu.vendor));
    fmt::print("# CPU model: {}\n", ucs::arch::model_name(cpu.model));
    fmt::print("# CPU vectors:{}{}\n", cpu.avx2 ? " avx2" : "", cpu.avx512f ? " avx512f" : "");
    const ucs::arch::cache_sizes caches = ucs::arch::read_caches();
    print_cache("L1 data cache", caches.l1_data);
    print_cache("L1 instruction cache", caches.l1_instruction);
    print_cache("L2 cache", caches.l2);
    print_cache("L3 cache", caches.l3);
    if (caches.l3_sharers != 0) fmt::print("# L3 cache shared by: {} CPUs\n", caches.l3_sharers);
}

}  // namespace tools::info
