// Who this process is and where it runs: what decides which peers are near.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ucs::sys {

// Equal in all processes of one running kernel, containers included, and different on other
// hosts and after a reboot: a hash of the boot id, or of the host name where there is none.
[[nodiscard]] std::uint64_t host_id() noexcept;

// Inode numbers of the namespaces; equal values on one host mean that process ids, or network
// addresses and abstract sockets, are shared. 0 when /proc does not say.
[[nodiscard]] std::uint64_t pid_namespace() noexcept;
[[nodiscard]] std::uint64_t net_namespace() noexcept;
[[nodiscard]] std::uint64_t ipc_namespace() noexcept;

// One process for ever: its id may be another one's later. An id of 0: none.
struct process_identity {
    pid_t pid = 0;
    std::uint64_t start_time = 0;
};

// When a process began, in clock ticks after boot: with the process id it names one process for
// ever. Nothing when there is no such process to see.
[[nodiscard]] std::optional<std::uint64_t> start_time(pid_t process);

// Field 22 of the text of /proc/PID/stat, whatever the process calls itself.
[[nodiscard]] std::optional<std::uint64_t> parse_start_time(std::string_view stat);

// Without the domain; looked up once.
[[nodiscard]] std::string_view host_name() noexcept;

// Last part of the path of the running program.
[[nodiscard]] std::string_view executable_name() noexcept;

// FNV-1a, for identities that two processes compute alike.
[[nodiscard]] constexpr std::uint64_t hash_text(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash;
}

}  // namespace ucs::sys
