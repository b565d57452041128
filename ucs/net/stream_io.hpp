// Sending and receiving over connected stream sockets for those who never wait.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "ucs/security/opening.hpp"

namespace ucs::net {

// Returns the number of bytes that have arrived and were read; 0: there are none now; -1: the
// connection has ended or failed.
[[nodiscard]] ssize_t receive_some(int socket, std::span<std::byte> into) noexcept;

// Returns whether the kernel took all bytes at once. A short record fits into the buffer of a new
// connection, so its sender takes anything else for the end of the connection.
[[nodiscard]] bool send_whole(int socket, std::span<const std::byte> record) noexcept;

// Goes on with an opening over the socket, see opening::advance.
[[nodiscard]] security::opening::step advance(security::opening& with, int socket) noexcept;

}  // namespace ucs::net
