// Identifies the processor and its caches.
#pragma once

#include <cstddef>
#include <string>

namespace ucs::arch {

enum class cpu_vendor {
    unknown,
    intel,
    amd,
    generic_arm,
    generic_ppc,
    fujitsu_arm,
    zhaoxin,
    nvidia
};

enum class cpu_model {
    unknown,
    nehalem,
    westmere,
    sandy_bridge,
    ivy_bridge,
    haswell,
    broadwell,
    skylake,
    ice_lake,
    sapphire_rapids,
    naples,
    rome,
    milan,
    genoa,
    turin,
    generic_arm,
    grace,
    zhangjiang,
    wudaokou,
    lujiazui,
};

struct cpu_identity {
    cpu_vendor vendor = cpu_vendor::unknown;
    cpu_model model = cpu_model::unknown;
    bool avx2 = false;  // usable: the processor has it and the kernel saves its registers
    bool avx512f = false;
};

// Returns the processor of this machine, detected once. Any thread.
[[nodiscard]] const cpu_identity& cpu() noexcept;

// Names as ucx.conf sections use them: "Intel", "Skylake".
[[nodiscard]] const char* vendor_name(cpu_vendor vendor) noexcept;
[[nodiscard]] const char* model_name(cpu_model model) noexcept;

// From CPUID's family and model numbers (display form) or ARM's implementer and part numbers.
[[nodiscard]] cpu_model x86_model(cpu_vendor vendor, unsigned family, unsigned model) noexcept;
[[nodiscard]] cpu_identity arm_identity(unsigned implementer, unsigned part) noexcept;

// Sizes in bytes; 0 if the system does not report them.
struct cache_sizes {
    std::size_t l1_data = 0;
    std::size_t l1_instruction = 0;
    std::size_t l2 = 0;
    std::size_t l3 = 0;
    unsigned l3_sharers = 0;  // CPUs that share the last level cache
};

// Reads CPU `index`'s caches from ROOT/sys/devices/system/cpu.
[[nodiscard]] cache_sizes read_caches(const std::string& root = "/", unsigned index = 0);

}  // namespace ucs::arch
