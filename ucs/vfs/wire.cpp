#include "ucs/vfs/wire.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace ucs::vfs::wire {
namespace {

constexpr std::size_t most_descriptors = 4;

// Descriptors beyond the first would leak into this process: they are taken and closed.
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

}  // namespace

int send(int socket, kind type, std::string_view text, int descriptor) noexcept {
    std::array<char, sizeof(header) + longest_text> bytes;
    const header head{magic, version, static_cast<std::uint16_t>(type)};
    const std::size_t length = std::min(text.size(), longest_text);
    std::memcpy(bytes.data(), &head, sizeof head);
    if (length > 0) std::memcpy(bytes.data() + sizeof head, text.data(), length);
    iovec piece{bytes.data(), sizeof head + length};
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

std::optional<packet> receive(int socket, bool& over) {
    std::array<char, sizeof(header) + longest_text> bytes;
    iovec piece{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * most_descriptors)> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t length = 0;
    do {
        length = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    over = length >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    if (length < 0) return std::nullopt;
    unique_fd descriptor = take_descriptors(message);
    header head{};
    if (static_cast<std::size_t>(length) < sizeof head) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.magic != magic || head.version != version) return std::nullopt;
    over = false;
    const std::size_t text = static_cast<std::size_t>(length) - sizeof head;
    return packet{static_cast<kind>(head.type), std::string(bytes.data() + sizeof head, text),
                  std::move(descriptor)};
}

}  // namespace ucs::vfs::wire
