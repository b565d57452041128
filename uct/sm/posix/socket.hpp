// Sockets of the posix transport, by which a sender passes its ring to the receiver.
#pragma once

#include <cstdint>
#include <string>

#include "ucs/descriptor/peer_credentials.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/sm/posix/wire.hpp"

namespace uct::posix {

// Returns a non-blocking SOCK_SEQPACKET socket, or a descriptor of -1 with errno set.
[[nodiscard]] ucs::unique_fd make_socket() noexcept;

// Listens on the name for `id`. Failures are logged.
[[nodiscard]] ucs::result<ucs::unique_fd> listen_on(std::uint64_t id);

// The following calls never block and return an errno, 0 for success.
[[nodiscard]] int connect_to(int socket, std::uint64_t id) noexcept;
[[nodiscard]] int send_bytes(int socket, std::span<const std::byte> bytes, int descriptor) noexcept;
template<class Packet>
[[nodiscard]] int send_packet(int socket, const Packet& said, int descriptor = -1) noexcept {
    return send_bytes(socket, std::as_bytes(std::span(&said, 1)), descriptor);
}
// Sends a packet that may be lost: a goodbye, after which the connection ends, or a wake-up call.
void send_plain_packet(int socket, packet_kind kind) noexcept;
inline void send_wake_up_call(int socket) noexcept {
    send_plain_packet(socket, packet_kind::wake_up_call);
}

// Returns the process at the other end. UCS_ERR_IO_ERROR is logged.
[[nodiscard]] ucs::result<ucs::sys::peer_credentials> peer_of(int socket) noexcept;

// One packet and the descriptor that came with it.
struct packet {
    enum class kind { nothing_yet, end, message } type = kind::end;
    std::array<std::byte, 64> bytes{};
    std::size_t length = 0;
    ucs::unique_fd fd;

    [[nodiscard]] std::span<const std::byte> content() const noexcept {
        return std::span(bytes).first(length);
    }
};
[[nodiscard]] packet receive_packet(int socket) noexcept;

}  // namespace uct::posix
