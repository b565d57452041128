#include "ucp/core/host_costs.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "ucs/config/once.hpp"
#include "ucs/log/log.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/sys/text_file.hpp"
#include "ucs/sys/trusted_file.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

namespace {

constinit const ucs::log::component host_log{"ucp.host"};
constexpr int format_version = 1;
constexpr std::size_t longest_file = 4096;
constexpr std::size_t cached_size = 256 * 1024;
constexpr std::size_t memory_size = 4 * 1024 * 1024;

template<class Work>
double seconds_of(Work&& work) {
    const auto start = ucs::time::now();
    work();
    return static_cast<double>(ucs::time::now() - start) * 1e-9;
}

// Returns the best of a few rounds, because disturbances only add time.
template<class Work>
double best_of(int rounds, Work&& work) {
    double best = 1;
    for (int i = 0; i < rounds; ++i)
        best = std::min(best, seconds_of(work));
    return std::max(best, 1e-9);
}

// Reading this process's own memory through the kernel costs as much as reading a peer's.
bool read_self(std::byte* into, const std::byte* from, std::size_t length) {
    iovec local{into, length};
    iovec remote{const_cast<std::byte*>(from), length};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(length);
}

void measure_copies(host_costs& costs, std::byte* a, std::byte* b) {
    const auto copy = [&](std::size_t length) {
        return best_of(4, [=] { std::memcpy(b, a, length); });
    };
    copy(memory_size);  // touches every page
    costs.copy_cached = static_cast<double>(cached_size) / copy(cached_size);
    costs.copy_memory = static_cast<double>(memory_size) / copy(memory_size);
    costs.copy_memory = std::min(costs.copy_memory, costs.copy_cached);
}

void measure_single_copy(host_costs& costs, std::byte* a, std::byte* b) {
    costs.single_copy_works = read_self(b, a, 64);
    if (!costs.single_copy_works) return;
    costs.single_copy_overhead = best_of(8, [=] { read_self(b, a, 64); });
    const std::size_t length = memory_size / 4;
    const double whole = best_of(3, [=] { read_self(b, a, length); });
    costs.single_copy =
        static_cast<double>(length) / std::max(whole - costs.single_copy_overhead, whole / 10);
}

std::size_t second_level_cache() {
    const long size = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    return size > 0 ? static_cast<std::size_t>(size) : std::size_t{1} << 20;
}

host_costs measure_now() {
    host_costs costs;
    costs.cache_size = second_level_cache();
    const std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[2 * memory_size]());
    if (memory == nullptr) return costs;
    measure_copies(costs, memory.get(), memory.get() + memory_size);
    measure_single_copy(costs, memory.get(), memory.get() + memory_size);
    costs.origin = "measured now";
    return costs;
}

// Identifies the machine, because figures of another processor or kernel are not valid here.
std::string hardware_identity() {
    const std::string cpus = ucs::sys::read_text("/proc/cpuinfo").value_or("");
    const std::size_t model = cpus.find("model name");
    std::string text;
    if (model != cpus.npos) text = cpus.substr(model, cpus.find('\n', model) + 1 - model);
    utsname system{};
    if (::uname(&system) == 0) text += system.release;
    text += fmt::format("/{}/{}", ::sysconf(_SC_NPROCESSORS_CONF), second_level_cache());
    return fmt::format("{:016x}", ucs::sys::hash_text(text));
}

std::string cache_folder() {
    if (const char* base = std::getenv("XDG_CACHE_HOME"); base != nullptr && *base == '/') {
        return fmt::format("{}/hawser", base);
    }
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
        return fmt::format("{}/.cache/hawser", home);
    }
    return {};
}

bool is_plausible(const host_costs& costs) {
    const auto rate = [](double value) { return value > 1e7 && value < 1e13; };
    return rate(costs.copy_cached) && rate(costs.copy_memory) && rate(costs.single_copy) &&
           costs.single_copy_overhead > 0 && costs.single_copy_overhead < 1;
}

// Loads the figures from the file. Fails if another user or another version wrote it; then they are
// measured again.
bool load(const std::string& path, host_costs& costs) {
    const ucs::sys::opened_file file = ucs::sys::open_for_reading(path, ucs::sys::file_trust::own);
    if (!file) {
        if (!file.is_absent() && ucs::config::first_time("unusable " + path))
            ucs::log::warn(host_log, "{} is left out: {}", path, file.reason);
        return false;
    }
    const ucs::sys::file_text kept = ucs::sys::read_whole(file, longest_file);
    int version = 0;
    int works = 0;
    host_costs read;
    const int fields = std::sscanf(kept.text.c_str(), "hawser-host %d %lg %lg %zu %lg %lg %d",
                                   &version, &read.copy_cached, &read.copy_memory, &read.cache_size,
                                   &read.single_copy_overhead, &read.single_copy, &works);
    if (fields != 7 || version != format_version || !is_plausible(read)) return false;
    read.single_copy_works = works != 0;
    read.origin = fmt::format("measured before, kept in {}", path);
    costs = read;
    return true;
}

// Many processes of one job may write this file at the same time, so it is replaced as a whole. A
// failure does no harm.
void save(const std::string& folder, const std::string& path, const host_costs& costs) {
    ucs::sys::make_own_folder(folder);
    const std::string text =
        fmt::format("hawser-host {} {:.6g} {:.6g} {} {:.6g} {:.6g} {}\n", format_version,
                    costs.copy_cached, costs.copy_memory, costs.cache_size,
                    costs.single_copy_overhead, costs.single_copy, costs.single_copy_works ? 1 : 0);
    const std::string reason = ucs::sys::replace_file(path, text);
    if (!reason.empty()) {
        ucs::log::debug(host_log, "the measured host figures could not be kept in {}: {}", path,
                        reason);
    }
}

}  // namespace

host_costs measure_host(bool allowed) {
    if (!allowed) return {};
    const std::string folder = cache_folder();
    const std::string path = fmt::format("{}/host-{}", folder, hardware_identity());
    host_costs costs;
    if (!folder.empty() && load(path, costs)) return costs;
    costs = measure_now();
    if (!folder.empty() && is_plausible(costs)) save(folder, path, costs);
    return costs;
}

}  // namespace ucp
