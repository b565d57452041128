#include "ucs/arch/cpu.hpp"

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"

namespace arch = ucs::arch;
using namespace arch;

TEST_CASE("processors are identified by their numbers") {
    CHECK(arch::x86_model(cpu_vendor::intel, 6, 0x55) == cpu_model::skylake);
    CHECK(arch::x86_model(cpu_vendor::intel, 6, 0x4f) == cpu_model::broadwell);
    CHECK(arch::x86_model(cpu_vendor::intel, 6, 0x8f) == cpu_model::sapphire_rapids);
    CHECK(arch::x86_model(cpu_vendor::intel, 15, 0x55) == cpu_model::unknown);
    CHECK(arch::x86_model(cpu_vendor::amd, 0x17, 0x01) == cpu_model::naples);
    CHECK(arch::x86_model(cpu_vendor::amd, 0x17, 0x31) == cpu_model::rome);
    CHECK(arch::x86_model(cpu_vendor::amd, 0x19, 0x01) == cpu_model::milan);
    CHECK(arch::x86_model(cpu_vendor::amd, 0x19, 0x11) == cpu_model::genoa);
    CHECK(arch::x86_model(cpu_vendor::unknown, 6, 0x55) == cpu_model::unknown);
    CHECK(arch::arm_identity(0x46, 1).vendor == cpu_vendor::fujitsu_arm);
    CHECK(arch::arm_identity(0x41, 0xd4f).model == cpu_model::grace);
    CHECK(arch::arm_identity(0x41, 0xd0c).vendor == cpu_vendor::generic_arm);
}

TEST_CASE("the names are those of ucx.conf") {
    CHECK(std::string(arch::vendor_name(cpu_vendor::fujitsu_arm)) == "Fujitsu ARM");
    CHECK(std::string(arch::vendor_name(cpu_vendor::amd)) == "AMD");
    CHECK(std::string(arch::model_name(cpu_model::milan)) == "Milan");
    CHECK(std::string(arch::model_name(cpu_model::grace)) == "Grace");
}

#if defined(__x86_64__)
TEST_CASE("this processor has a vendor") {
    CHECK(arch::cpu().vendor != cpu_vendor::generic_arm);
    CHECK((!arch::cpu().avx512f || arch::cpu().avx2));
}
#endif

TEST_CASE("cache sizes come from the system's files") {
    const test::temp_dir root;
    const std::string base = "sys/devices/system/cpu/cpu0/cache/index";
    const auto add = [&](int index, const char* level, const char* type, const char* size) {
        const std::string folder = base + std::to_string(index);
        root.write(folder + "/level", level);
        root.write(folder + "/type", type);
        root.write(folder + "/size", size);
        root.write(folder + "/shared_cpu_list", "0-3,8-11\n");
    };
    add(0, "1\n", "Data\n", "48K\n");
    add(1, "1\n", "Instruction\n", "32K\n");
    add(2, "2\n", "Unified\n", "2048K\n");
    add(3, "3\n", "Unified\n", "60M\n");
    const arch::cache_sizes caches = arch::read_caches(root.path());
    CHECK(caches.l1_data == 48 * 1024);
    CHECK(caches.l1_instruction == 32 * 1024);
    CHECK(caches.l2 == 2048 * 1024);
    CHECK(caches.l3 == 60 * 1024 * 1024);
    CHECK(caches.l3_sharers == 8);
    CHECK(arch::read_caches(root.path(), 1).l2 == 0);
}
