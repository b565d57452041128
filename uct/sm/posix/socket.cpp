#include "uct/sm/posix/socket.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "uct/sm/posix/log.hpp"
#include "uct/sm/posix/segment.hpp"

namespace uct::posix {
namespace {

struct socket_name {
    sockaddr_un address{};
    socklen_t length = 0;

    explicit socket_name(std::uint64_t id) noexcept {
        address.sun_family = AF_UNIX;
        // A leading zero byte: an abstract name, in no file system, gone with the socket.
        const auto end = fmt::format_to_n(address.sun_path + 1, sizeof address.sun_path - 1,
                                          "hawser-posix-{:016x}", id);
        length = static_cast<socklen_t>(end.out - reinterpret_cast<char*>(&address));
    }
    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&address);
    }
};

// Descriptors beyond the first would leak into this process: take and close them.
void take_descriptors(msghdr& header, ucs::unique_fd& first) noexcept {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            ucs::unique_fd owned{fd};
            if (!first) first = std::move(owned);
        }
    }
}

}  // namespace

ucs::unique_fd make_socket() noexcept {
    return ucs::unique_fd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

ucs::result<ucs::unique_fd> listen_on(std::uint64_t id) {
    const socket_name name{id};
    const char* call = "socket(AF_UNIX)";
    ucs::unique_fd listener = make_socket();
    if (listener) {
        call = "bind";
        if (::bind(listener.get(), name.get(), name.length) == 0) {
            call = "listen";
            if (::listen(listener.get(), SOMAXCONN) == 0) return listener;
        }
    }
    const int error = errno;
    ucs::log::error(posix_log, "cannot listen on the abstract socket hawser-posix-{:016x}: {}: {}",
                    id, call, std::strerror(error));
    return status_of_errno(error);
}

int connect_to(int socket, std::uint64_t id) noexcept {
    const socket_name name{id};
    return ::connect(socket, name.get(), name.length) == 0 ? 0 : errno;
}

int send_hello(int socket, const hello& said, int memfd) noexcept {
    hello copy = said;
    iovec piece{&copy, sizeof copy};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof memfd);
    std::memcpy(CMSG_DATA(part), &memfd, sizeof memfd);
    return ::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ? 0 : errno;
}

void send_goodbye(int socket, goodbye_reason reason) noexcept {
    const goodbye said{.reason = reason};
    // When it does not get through, the end of the connection says nearly as much.
    (void)::send(socket, &said, sizeof said, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void send_wake_up_call(int socket) noexcept {
    const goodbye said{.reason = static_cast<goodbye_reason>(wake_up_call)};
    // A socket that takes no more has something to read for who sleeps: that wakes as well.
    (void)::send(socket, &said, sizeof said, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ucs::result<peer_identity> peer_of(int socket) noexcept {
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) {
        ucs::log::error(posix_log, "getsockopt(SO_PEERCRED) failed: {}", std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    return peer_identity{static_cast<std::uint32_t>(who.pid), who.uid};
}

packet receive_packet(int socket) noexcept {
    packet got;
    iovec piece{got.bytes.data(), got.bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> control{};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    ssize_t length = 0;
    do {
        length = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        got.type = packet::kind::nothing_yet;
    } else if (length > 0) {
        take_descriptors(header, got.fd);
        got.type = packet::kind::message;
        got.length = (header.msg_flags & MSG_TRUNC) != 0 ? 0 : static_cast<std::size_t>(length);
    }
    return got;
}

}  // namespace uct::posix
