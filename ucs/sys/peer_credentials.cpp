#include "ucs/sys/peer_credentials.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace ucs::sys {

bool peer_credentials::is_own_user() const noexcept {
    return uid == ::geteuid();
}

bool peer_credentials::is_own_user_or_root() const noexcept {
    return uid == 0 || is_own_user();
}

std::optional<peer_credentials> read_peer_credentials(int socket) noexcept {
    ucred found{};
    socklen_t length = sizeof found;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &length) != 0) return std::nullopt;
    return peer_credentials{found.pid, found.uid};
}

}  // namespace ucs::sys
