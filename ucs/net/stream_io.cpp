#include "ucs/net/stream_io.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace ucs::net {

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
