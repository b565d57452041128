// Creation and options of TCP sockets.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "ucs/net/ip_address.hpp"
#include "ucs/security/key_handshake.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::net {

// Returns the text of an errno, as "Connection refused". Does not allocate.
[[nodiscard]] const char* error_text(int error) noexcept;

// Returns a non-blocking stream socket of the family; empty, with errno, if there is none.
[[nodiscard]] unique_fd open_stream(int family) noexcept;

// Returns a non-blocking socket that listens at the address, even if connections at that address
// ended a moment ago; empty, with errno, on failure. `takes_ipv4`: a socket for IPv6 accepts IPv4,
// too, whatever the default of the host.
[[nodiscard]] unique_fd listen_at(const socket_address& address, bool takes_ipv4 = false) noexcept;

// How the kernel detects that the host of a peer vanished.
struct liveness {
    int idle = 0;          // seconds without data before the first probe
    int interval = 0;      // seconds between probes
    int probes = 0;        // unanswered ones before the connection ends
    int user_timeout = 0;  // milliseconds without an acknowledgement of data; 0: the kernel's value
};
// Lets a connection send small records at once, and probe its peer. Returns false, with errno, if
// the kernel refuses an option; the others are set nevertheless.
bool make_lively(int fd, const liveness& probing) noexcept;

// Returns how an attempt to connect has ended, once the socket is ready: 0, or an errno. A socket
// that TCP has connected with itself, because nothing listens at a port of this host, is refused.
[[nodiscard]] int connect_error(int fd) noexcept;

// Return the address of the socket and of its peer; no address if the kernel knows none.
[[nodiscard]] socket_address local_address(int fd) noexcept;
[[nodiscard]] socket_address remote_address(int fd) noexcept;

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
