#include "ucs/descriptor/peer_credentials.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "ucs/descriptor/descriptor_budget.hpp"

namespace ucs::sys {
namespace {

// The option came with Linux 6.5; older headers do not have it.
#ifndef SO_PEERPIDFD
constexpr int SO_PEERPIDFD = 77;
#endif

bool is_peer_alive(int socket) noexcept {
    int found = -1;
    socklen_t length = sizeof found;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &found, &length) != 0)
        return errno == ENOPROTOOPT;
    const unique_fd process = within_budget(unique_fd(found));
    pollfd ended{process.get(), POLLIN, 0};
    return process && ::poll(&ended, 1, 0) == 0;
}

}  // namespace

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

process_identity identify_living_peer(int socket) noexcept try {
    const auto peer = read_peer_credentials(socket);
    if (!peer || peer->pid == 0) return {};
    const auto began = start_time(peer->pid);
    // If the process is alive now, it was alive when its start time was read.
    return began && is_peer_alive(socket) ? process_identity{peer->pid, *began}
                                          : process_identity{};
} catch (const std::bad_alloc&) {
    return {};
}

}  // namespace ucs::sys
