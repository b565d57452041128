// Non-blocking send and receive over connected stream sockets.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "ucs/security/key_handshake.hpp"

namespace ucs::net {

// Returns the number of bytes read; 0 if none have arrived; -1 if the connection has ended or
// failed.
[[nodiscard]] ssize_t receive_some(int socket, std::span<std::byte> into) noexcept;

// Returns whether the kernel accepted all bytes at once. A short record fits into the buffer of a
// new connection, so the caller treats any other result as the end of the connection.
[[nodiscard]] bool send_whole(int socket, std::span<const std::byte> record) noexcept;

// Continues the handshake over the socket, see key_handshake::advance().
[[nodiscard]] security::key_handshake::step advance(security::key_handshake& handshake,
                                                    int socket) noexcept;

}  // namespace ucs::net
