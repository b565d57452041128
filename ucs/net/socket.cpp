#include "ucs/net/socket.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"

namespace ucs::net {

namespace {

bool set(int fd, int level, int name, int value) noexcept {
    return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

}  // namespace

const char* error_text(int error) noexcept {
    const char* text = ::strerrordesc_np(error);
    return text == nullptr ? "unknown error" : text;
}

unique_fd open_stream(int family) noexcept {
    return sys::within_budget(
        unique_fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
}

unique_fd listen_at(const socket_address& address, bool takes_ipv4) noexcept {
    const int family = address.data()->sa_family;
    unique_fd socket = open_stream(family);
    if (!socket) return {};
    if (takes_ipv4 && family == AF_INET6) set(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (set(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1) &&
        ::bind(socket.get(), address.data(), address.size()) == 0 &&
        ::listen(socket.get(), SOMAXCONN) == 0)
        return socket;
    const int error = errno;  // closing the socket may change it
    socket.reset();
    errno = error;
    return {};
}

bool make_lively(int fd, const liveness& probing) noexcept {
    bool all = set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    all &= set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    all &= set(fd, IPPROTO_TCP, TCP_KEEPIDLE, probing.idle);
    all &= set(fd, IPPROTO_TCP, TCP_KEEPINTVL, probing.interval);
    all &= set(fd, IPPROTO_TCP, TCP_KEEPCNT, probing.probes);
    if (probing.user_timeout != 0)
        all &= set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, probing.user_timeout);
    return all;
}

int connect_error(int fd) noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    if (error != 0) return error;
    const socket_address own = local_address(fd), peer = remote_address(fd);
    const bool is_self = !own.ip().is_none() && own.ip() == peer.ip() && own.port() == peer.port();
    return is_self ? ECONNREFUSED : 0;
}

socket_address local_address(int fd) noexcept {
    socket_address address;
    if (::getsockname(fd, address.data(), address.size_to_fill()) != 0) return {};
    return address;
}

socket_address remote_address(int fd) noexcept {
    socket_address address;
    if (::getpeername(fd, address.data(), address.size_to_fill()) != 0) return {};
    return address;
}

ssize_t receive_some(int socket, std::span<std::byte> into) noexcept {
    ssize_t got = 0;
    do {
        got = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    return got > 0 ? got : -1;
}

bool send_whole(int socket, std::span<const std::byte> record) noexcept {
    return ::send(socket, record.data(), record.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(record.size());
}

security::key_handshake::step advance(security::key_handshake& handshake, int socket) noexcept {
    return handshake.advance(
        [socket](std::span<const std::byte> record) { return send_whole(socket, record); },
        [socket](std::span<std::byte> into) { return receive_some(socket, into); });
}

}  // namespace ucs::net
