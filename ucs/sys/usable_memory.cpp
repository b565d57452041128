#include "ucs/sys/usable_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <limits>
#include <new>
#include <sstream>

#include "ucs/sys/text_file.hpp"

namespace ucs::sys {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t physical_memory() noexcept {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return std::uint64_t{16} << 30;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

std::uint64_t address_space_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
    return limit.rlim_cur;
}

// A file without a limit holds "max" (version 2) or a number near 2^63 (version 1).
std::uint64_t limit_in(const std::string& file) {
    const auto bytes = read_number(file);
    return bytes && *bytes > 0 ? static_cast<std::uint64_t>(*bytes) : no_limit;
}

// Returns the smallest limit of a group and the groups above it, because a limit applies to all
// groups below. Inside a container the path may be that of the host, of which only the last folder
// is mounted; then the root of the mount has the limit.
std::uint64_t smallest_upwards(const std::string& root, std::string path, const char* name) {
    std::uint64_t smallest = no_limit;
    while (true) {
        std::string file = root + path;
        if (!file.ends_with('/')) file += '/';
        smallest = std::min(smallest, limit_in(file + name));
        const auto slash = path.rfind('/');
        if (slash == std::string::npos) return smallest;
        path.resize(slash);
    }
}

std::uint64_t cgroup_limit_of_this_process() noexcept try {
    const auto membership = read_text("/proc/self/cgroup");
    return membership ? cgroup_memory_limit(*membership, "/sys/fs/cgroup") : no_limit;
} catch (const std::bad_alloc&) {
    return no_limit;
}

}  // namespace

std::uint64_t cgroup_memory_limit(const std::string& membership, const std::string& mount) {
    std::uint64_t smallest = no_limit;
    std::istringstream lines(membership);
    for (std::string line; std::getline(lines, line);) {
        // "0::/path" is a group of version 2, "4:cpu,memory:/path" one of version 1.
        const auto first = line.find(':');
        if (first == std::string::npos) continue;
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        if (controllers.empty()) {
            smallest = std::min(smallest, smallest_upwards(mount, path, "memory.max"));
        } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
            smallest = std::min(smallest,
                                smallest_upwards(mount + "/memory", path, "memory.limit_in_bytes"));
        }
    }
    return smallest;
}

std::uint64_t usable_memory() noexcept {
    static const std::uint64_t usable =
        std::min({physical_memory(), address_space_limit(), cgroup_limit_of_this_process()});
    return usable;
}

std::uint64_t peer_memory_limit(std::uint64_t usable) noexcept {
    constexpr std::uint64_t least = std::uint64_t{256} << 20;
    return std::min(std::max(least, usable / 8), usable / 2);
}

std::uint64_t peer_memory_limit() noexcept {
    return peer_memory_limit(usable_memory());
}

}  // namespace ucs::sys
