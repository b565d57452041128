#include "ucs/sys/process.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "ucs/sys/text_file.hpp"

namespace ucs::sys {
namespace {

std::uint64_t inode_of(const char* path) noexcept {
    struct stat info {};
    return ::stat(path, &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

// Text without a destructor, so that it can be logged until the end of the process.
struct fixed_text {
    char bytes[256] = {};
    std::size_t size = 0;

    void assign(std::string_view text) noexcept {
        size = text.size() < sizeof(bytes) ? text.size() : sizeof(bytes);
        std::memcpy(bytes, text.data(), size);
    }
    [[nodiscard]] std::string_view view() const noexcept { return {bytes, size}; }
};

fixed_text find_host_name() noexcept {
    char name[HOST_NAME_MAX + 1] = {};
    fixed_text text;
    if (::gethostname(name, sizeof(name) - 1) != 0) std::strcpy(name, "localhost");
    const std::string_view full(name);
    text.assign(full.substr(0, full.find('.')));
    return text;
}

fixed_text find_executable() noexcept {
    char path[PATH_MAX] = {};
    const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
    fixed_text text;
    text.assign(size > 0 ? base_name({path, static_cast<std::size_t>(size)}) : "unknown");
    return text;
}

}  // namespace

std::uint64_t host_id() noexcept {
    static const std::uint64_t id = [] {
        const auto boot = read_text("/proc/sys/kernel/random/boot_id");
        return hash_text(boot && !boot->empty() ? std::string_view(*boot) : host_name());
    }();
    return id;
}

std::uint64_t pid_namespace() noexcept {
    return inode_of("/proc/self/ns/pid");
}
std::uint64_t net_namespace() noexcept {
    return inode_of("/proc/self/ns/net");
}
std::uint64_t ipc_namespace() noexcept {
    return inode_of("/proc/self/ns/ipc");
}

std::optional<std::uint64_t> parse_start_time(std::string_view stat) {
    // The second field is the name in parentheses, which may itself hold blanks and parentheses.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == stat.npos) return std::nullopt;
    stat.remove_prefix(name_end + 1);
    for (int field = 3; field <= 22; ++field) {
        const std::size_t blank = stat.find_first_not_of(' ');
        if (blank == stat.npos) return std::nullopt;
        stat.remove_prefix(blank);
        if (field < 22) stat.remove_prefix(std::min(stat.find(' '), stat.size()));
    }
    std::uint64_t ticks = 0;
    const auto [end, error] = std::from_chars(stat.data(), stat.data() + stat.size(), ticks);
    if (error != std::errc{}) return std::nullopt;
    return ticks;
}

std::optional<std::uint64_t> start_time(pid_t process) {
    const auto stat = read_text("/proc/" + std::to_string(process) + "/stat");
    return stat ? parse_start_time(*stat) : std::nullopt;
}

std::string_view host_name() noexcept {
    static const fixed_text name = find_host_name();
    return name.view();
}

std::string_view executable_name() noexcept {
    static const fixed_text name = find_executable();
    return name.view();
}

}  // namespace ucs::sys
