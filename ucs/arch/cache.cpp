#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "ucs/arch/cpu.hpp"
#include "ucs/sys/text_file.hpp"

namespace ucs::arch {
namespace {

// Parses the kernel's form of a cache size, "48K" or "60M".
std::optional<std::size_t> bytes_of(const std::string& text) noexcept {
    std::size_t number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit(rest, end);
    if (error != std::errc{} || (unit != "K" && unit != "M")) return std::nullopt;
    return number * (unit == "K" ? 1024U : 1024U * 1024U);
}

}  // namespace

cache_sizes read_caches(const std::string& root, unsigned index) {
    const std::string base =
        root + "/sys/devices/system/cpu/cpu" + std::to_string(index) + "/cache/index";
    cache_sizes found;
    for (unsigned i = 0; i < 16; ++i) {
        const std::string folder = base + std::to_string(i);
        const auto level = sys::read_number(folder + "/level");
        if (!level) break;
        const auto type = sys::read_text(folder + "/type");
        const auto size = sys::read_text(folder + "/size");
        const auto bytes = size ? bytes_of(*size) : std::nullopt;
        if (!type || !bytes) continue;
        if (*level == 1 && *type == "Data") found.l1_data = *bytes;
        if (*level == 1 && *type == "Instruction") found.l1_instruction = *bytes;
        if (*level == 2) found.l2 = *bytes;
        if (*level == 3) {
            found.l3 = *bytes;
            const auto cpus = sys::read_text(folder + "/shared_cpu_list");
            const auto list = cpus ? sys::parse_cpu_list(*cpus) : std::nullopt;
            found.l3_sharers = list ? static_cast<unsigned>(list->size()) : 0;
        }
    }
    return found;
}

}  // namespace ucs::arch
