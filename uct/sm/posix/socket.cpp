#include "uct/sm/posix/socket.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "ucs/descriptor/abstract_name.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "uct/base/log.hpp"
#include "uct/sm/posix/segment.hpp"

namespace uct::posix {
namespace {

ucs::sys::abstract_name name_of(std::uint64_t id) noexcept {
    return {"hawser-posix", id};
}

}  // namespace

ucs::unique_fd make_socket() noexcept {
    return ucs::sys::make_local_socket();
}

ucs::result<ucs::unique_fd> listen_on(std::uint64_t id) {
    const ucs::sys::abstract_name name = name_of(id);
    const char* call = "socket(AF_UNIX)";
    ucs::unique_fd listener = make_socket();
    if (listener) {
        call = "bind";
        if (::bind(listener.get(), name.get(), name.length()) == 0) {
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
    const ucs::sys::abstract_name name = name_of(id);
    return ::connect(socket, name.get(), name.length()) == 0 ? 0 : errno;
}

int send_bytes(int socket, std::span<const std::byte> bytes, int descriptor) noexcept {
    return ucs::sys::send_with_descriptor(socket, bytes, descriptor);
}

// Ignores errors. If a goodbye is not delivered, the peer still notices that the connection ends,
// but not the reason. If the socket is too full for a wake-up call, it holds unread packets, which
// wake the peer as well.
void send_plain_packet(int socket, packet_kind kind) noexcept {
    const packet_header said{.kind = kind};
    (void)::send(socket, &said, sizeof said, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ucs::result<ucs::sys::peer_credentials> peer_of(int socket) noexcept {
    if (const auto peer = ucs::sys::read_peer_credentials(socket)) return *peer;
    ucs::log::error(posix_log, "getsockopt(SO_PEERCRED) failed: {}", std::strerror(errno));
    return UCS_ERR_IO_ERROR;
}

packet receive_packet(int socket) noexcept {
    packet got;
    ucs::sys::received_message read = ucs::sys::receive_with_descriptor(socket, got.bytes);
    if (read.would_block()) {
        got.type = packet::kind::nothing_yet;
    } else if (read.length > 0) {
        got.fd = std::move(read.descriptor);
        got.type = packet::kind::message;
        got.length = read.truncated ? 0 : static_cast<std::size_t>(read.length);
    }
    return got;
}

}  // namespace uct::posix
