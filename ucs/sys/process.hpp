// The identity and location of this process, by which peers on the same host are found.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ucs::sys {

// Equal in all processes of one running kernel, containers included, and different on other hosts
// and after a reboot: a hash of the boot id, or of the host name if there is no boot id.
[[nodiscard]] std::uint64_t host_id() noexcept;

// Inode numbers of the namespaces; equal values on one host mean that process ids, or network
// addresses and abstract sockets, are shared. 0 if /proc does not provide them.
[[nodiscard]] std::uint64_t pid_namespace() noexcept;
[[nodiscard]] std::uint64_t net_namespace() noexcept;
[[nodiscard]] std::uint64_t ipc_namespace() noexcept;

// Identifies one process for ever, although its id may be reused. An id of 0: none.
struct process_identity {
    pid_t pid = 0;
    std::uint64_t start_time = 0;
};

// Returns the start time of a process, in clock ticks after boot. Together with the process id it
// identifies one process for ever. Returns nullopt if no such process is visible.
[[nodiscard]] std::optional<std::uint64_t> start_time(pid_t process);

// Returns field 22 of the text of /proc/PID/stat. The name of the process may hold any characters.
[[nodiscard]] std::optional<std::uint64_t> parse_start_time(std::string_view stat);

// Returns the name of the host without its domain; looked up once.
[[nodiscard]] std::string_view host_name() noexcept;

// Returns the last part of the path of the running program.
[[nodiscard]] std::string_view executable_name() noexcept;

// FNV-1a, for identities that must be equal in all processes.
[[nodiscard]] constexpr std::uint64_t hash_text(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash;
}

}  // namespace ucs::sys
