#include "ucs/arch/cpu.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <cstdlib>
#include <cstring>

#include "ucs/sys/text_file.hpp"

namespace ucs::arch {
namespace {

#if defined(__x86_64__)

cpu_vendor x86_vendor() noexcept {
    unsigned highest = 0;
    char id[12];
    unsigned words[3] = {0, 0, 0};
    if (__get_cpuid(0, &highest, &words[0], &words[2], &words[1]) == 0) return cpu_vendor::unknown;
    std::memcpy(id, words, sizeof(id));
    const std::string_view name(id, sizeof(id));
    if (name == "GenuineIntel") return cpu_vendor::intel;
    if (name == "AuthenticAMD" || name == "HygonGenuine") return cpu_vendor::amd;
    if (name == "  Shanghai  " || name == "CentaurHauls") return cpu_vendor::zhaoxin;
    return cpu_vendor::unknown;
}

cpu_identity detect() noexcept {
    cpu_identity found;
    found.vendor = x86_vendor();
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
        unsigned family = (a >> 8) & 0xf;
        unsigned model = (a >> 4) & 0xf;
        if (family == 6 || family == 7 || family == 0xf) model |= (a >> 12) & 0xf0;
        if (family == 0xf) family += (a >> 20) & 0xff;
        found.model = x86_model(found.vendor, family, model);
    }
    __builtin_cpu_init();
    found.avx2 = __builtin_cpu_supports("avx2") != 0;
    found.avx512f = __builtin_cpu_supports("avx512f") != 0;
    return found;
}

#elif defined(__aarch64__)

cpu_identity detect() noexcept {
    const auto text = sys::read_text("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    if (!text) return {cpu_vendor::generic_arm, cpu_model::generic_arm};
    const unsigned long id = std::strtoul(text->c_str(), nullptr, 16);
    return arm_identity(static_cast<unsigned>(id >> 24) & 0xff,
                        static_cast<unsigned>(id >> 4) & 0xfff);
}

#elif defined(__powerpc64__)

cpu_identity detect() noexcept {
    return {cpu_vendor::generic_ppc, cpu_model::unknown};
}

#else

cpu_identity detect() noexcept {
    return {};
}

#endif

cpu_model intel_model(unsigned family, unsigned model) noexcept {
    if (family != 6) return cpu_model::unknown;
    switch (model) {
        case 0x1a:
        case 0x1e:
        case 0x1f:
        case 0x2e:
            return cpu_model::nehalem;
        case 0x25:
        case 0x2c:
        case 0x2f:
            return cpu_model::westmere;
        case 0x2a:
        case 0x2d:
            return cpu_model::sandy_bridge;
        case 0x3a:
        case 0x3e:
            return cpu_model::ivy_bridge;
        case 0x3c:
        case 0x3f:
        case 0x45:
        case 0x46:
            return cpu_model::haswell;
        case 0x3d:
        case 0x47:
        case 0x4f:
        case 0x56:
            return cpu_model::broadwell;
        case 0x4e:
        case 0x5e:
        case 0x55:
            return cpu_model::skylake;
        case 0x6a:
        case 0x6c:
            return cpu_model::ice_lake;
        case 0x8f:
        case 0xcf:
            return cpu_model::sapphire_rapids;
        default:
            return cpu_model::unknown;
    }
}

cpu_model amd_model(unsigned family, unsigned model) noexcept {
    if (family == 0x17) {
        if (model <= 0x0f) return cpu_model::naples;
        if (model >= 0x30 && model <= 0x3f) return cpu_model::rome;
    }
    if (family == 0x19) {
        if (model <= 0x0f) return cpu_model::milan;
        if ((model >= 0x10 && model <= 0x1f) || (model >= 0xa0 && model <= 0xaf)) {
            return cpu_model::genoa;
        }
    }
    if (family == 0x1a && model <= 0x1f) return cpu_model::turin;
    return cpu_model::unknown;
}

cpu_model zhaoxin_model(unsigned family, unsigned model) noexcept {
    if (family == 6 && model == 0x0f) return cpu_model::zhangjiang;
    if (family == 6 && model == 0x19) return cpu_model::zhangjiang;
    if (family == 7 && model == 0x1b) return cpu_model::wudaokou;
    if (family == 7 && model == 0x3b) return cpu_model::lujiazui;
    return cpu_model::unknown;
}

}  // namespace

const cpu_identity& cpu() noexcept {
    static const cpu_identity found = detect();
    return found;
}

cpu_model x86_model(cpu_vendor vendor, unsigned family, unsigned model) noexcept {
    switch (vendor) {
        case cpu_vendor::intel:
            return intel_model(family, model);
        case cpu_vendor::amd:
            return amd_model(family, model);
        case cpu_vendor::zhaoxin:
            return zhaoxin_model(family, model);
        default:
            return cpu_model::unknown;
    }
}

cpu_identity arm_identity(unsigned implementer, unsigned part) noexcept {
    if (implementer == 0x46 && part == 0x001) {
        return {cpu_vendor::fujitsu_arm, cpu_model::generic_arm};
    }
    if (implementer == 0x41 && part == 0xd4f) return {cpu_vendor::nvidia, cpu_model::grace};
    return {cpu_vendor::generic_arm, cpu_model::generic_arm};
}

const char* vendor_name(cpu_vendor vendor) noexcept {
    static constexpr std::array names{"unknown",     "Intel",       "AMD",     "Generic ARM",
                                      "Generic PPC", "Fujitsu ARM", "Zhaoxin", "Nvidia"};
    static_assert(names.size() == static_cast<std::size_t>(cpu_vendor::nvidia) + 1);
    return names[static_cast<std::size_t>(vendor)];
}

const char* model_name(cpu_model model) noexcept {
    static constexpr std::array names{"unknown",   "Nehalem",        "Westmere",  "SandyBridge",
                                      "IvyBridge", "Haswell",        "Broadwell", "Skylake",
                                      "IceLake",   "SapphireRapids", "Naples",    "Rome",
                                      "Milan",     "Genoa",          "Turin",     "ARM 64-bit",
                                      "Grace",     "Zhangjiang",     "Wudaokou",  "Lujiazui"};
    static_assert(names.size() == static_cast<std::size_t>(cpu_model::lujiazui) + 1);
    return names[static_cast<std::size_t>(model)];
}

}  // namespace ucs::arch
