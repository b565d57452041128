// Identity of the process at the other end of a local (AF_UNIX) socket.
#pragma once

#include <sys/types.h>

#include <optional>

#include "ucs/sys/process.hpp"

namespace ucs::sys {

// The kernel recorded it when the peer called connect() or listen(), and translates it into the
// namespaces of this process: a process id of 0 and the overflow user id (65534) stand for a
// process and a user that cannot be seen from here. Plain value.
struct peer_credentials {
    pid_t pid = 0;
    uid_t uid = 0;

    // The peer runs as the same effective user as this process.
    [[nodiscard]] bool is_own_user() const noexcept;
    // The same, or the peer runs as root, which may look into this process in any case.
    [[nodiscard]] bool is_own_user_or_root() const noexcept;
};

// Every program that uses a local socket checks these before it sends or believes anything,
// whichever side has connected: the name of a socket proves nothing, since any process may bind it
// after its owner has ended. Nothing: the system does not tell, and errno says why. Any thread.
[[nodiscard]] std::optional<peer_credentials> read_peer_credentials(int socket) noexcept;

// The process that called connect() or listen(), if it lives: the socket may be in the hands of a
// child of it by now, and its process id in those of anybody. None as well without memory or a
// descriptor. Before Linux 6.5 nobody tells whether it lives, and the process that has its id now
// is taken for it. Any thread.
[[nodiscard]] process_identity identify_living_peer(int socket) noexcept;

}  // namespace ucs::sys
