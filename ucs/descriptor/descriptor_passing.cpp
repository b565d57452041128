#include "ucs/descriptor/descriptor_passing.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ucs/descriptor/descriptor_budget.hpp"

namespace ucs::sys {
namespace {

constexpr std::size_t most_descriptors = 4;

// Takes the received descriptors. Returns the first one and closes the others, which would
// otherwise leak into this process.
unique_fd take_descriptors(msghdr& from) noexcept {
    unique_fd first;
    for (cmsghdr* part = CMSG_FIRSTHDR(&from); part != nullptr; part = CMSG_NXTHDR(&from, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            unique_fd owned{fd};
            if (!first) first = std::move(owned);
        }
    }
    return first;
}

// The option came with Linux 6.16; older headers do not have it.
#ifndef SO_PASSRIGHTS
constexpr int SO_PASSRIGHTS = 83;
#endif

void pass_rights(int socket, int is_allowed) noexcept {
    (void)::setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &is_allowed, sizeof is_allowed);
}

}  // namespace

unique_fd make_local_socket() noexcept {
    unique_fd made = within_budget(
        unique_fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
    if (made) forbid_descriptors(made.get());
    return made;
}

void forbid_descriptors(int socket) noexcept {
    pass_rights(socket, 0);
}

void allow_descriptors(int socket) noexcept {
    pass_rights(socket, 1);
}

bool may_hold_descriptors(int socket) noexcept {
    int is_allowed = 1;
    socklen_t length = sizeof is_allowed;
    return ::getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &is_allowed, &length) != 0 ||
           is_allowed != 0;
}

bool received_message::would_block() const noexcept {
    return length < 0 && (error == EAGAIN || error == EWOULDBLOCK);
}

int send_with_descriptor(int socket, std::span<const std::byte> bytes, int descriptor) noexcept {
    // sendmsg() does not write to the data.
    iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (descriptor >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof descriptor);
        std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
    }
    return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ? 0 : errno;
}

received_message receive_with_descriptor(int socket, std::span<std::byte> into) noexcept {
    iovec piece{into.data(), into.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * most_descriptors)> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    received_message got;
    // A Unix socket whose other end was closed with unread messages reports ECONNRESET once, before
    // the messages that had arrived here.
    bool reset_reported = false;
    do {
        got.length = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got.length < 0 &&
             (errno == EINTR || (errno == ECONNRESET && !std::exchange(reset_reported, true))));
    if (got.length < 0) {
        got.error = errno;
        return got;
    }
    got.truncated = (message.msg_flags & MSG_TRUNC) != 0;
    got.descriptor = take_descriptors(message);
    return got;
}

}  // namespace ucs::sys
