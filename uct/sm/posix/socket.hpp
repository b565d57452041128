// Sockets of the posix transport: how a ring gets from the sender to the receiver.
#pragma once

#include <cstdint>
#include <string>

#include "ucs/sys/peer_credentials.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/sm/posix/wire.hpp"

namespace uct::posix {

// A non-blocking SOCK_SEQPACKET socket, or a descriptor of -1 with errno set.
[[nodiscard]] ucs::unique_fd make_socket() noexcept;

// Listens on the name made of `id`. Failures are logged.
[[nodiscard]] ucs::result<ucs::unique_fd> listen_on(std::uint64_t id);

// The calls below never block and return errno, 0 for success.
[[nodiscard]] int connect_to(int socket, std::uint64_t id) noexcept;
[[nodiscard]] int send_hello(int socket, const hello& said, int memfd) noexcept;
void send_goodbye(int socket, goodbye_reason reason) noexcept;
void send_wake_up_call(int socket) noexcept;

// The process at the other end. UCS_ERR_IO_ERROR is logged.
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
