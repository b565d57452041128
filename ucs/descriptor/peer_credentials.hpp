// Identity of the process at the other end of a local (AF_UNIX) socket.
#pragma once

#include <sys/types.h>

#include <optional>

#include "ucs/sys/process.hpp"

namespace ucs::sys {

// The kernel records these when the peer calls connect() or listen(), and translates them into the
// namespaces of this process: a process id of 0 and the overflow user id (65534) stand for a
// process and a user that are not visible here. Plain value.
struct peer_credentials {
    pid_t pid = 0;
    uid_t uid = 0;

    // The peer runs as the same effective user as this process.
    [[nodiscard]] bool is_own_user() const noexcept;
    // The peer runs as the same user or as root, which has access to this process in any case.
    [[nodiscard]] bool is_own_user_or_root() const noexcept;
};

// Reads the credentials of the peer. Both sides of a local socket must check them before they send
// or trust data: the name of a socket proves nothing, because any process may bind it after its
// owner has ended. Returns nullopt on failure, with the reason in errno. Any thread.
[[nodiscard]] std::optional<peer_credentials> read_peer_credentials(int socket) noexcept;

// Returns the process that called connect() or listen(), if it is still alive: by now a child may
// hold the socket, and another process may have the process id. Also returns none without memory or
// a descriptor. Before Linux 6.5 the kernel does not report whether the process is alive; then the
// process that has the id now is returned. Any thread.
[[nodiscard]] process_identity identify_living_peer(int socket) noexcept;

}  // namespace ucs::sys
