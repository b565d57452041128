// Passing descriptors over Unix sockets, and protection against unwanted ones.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// These functions neither block nor raise SIGPIPE. Any thread.

// Sends one message, with a descriptor unless it is -1. Returns 0 or an errno value.
int send_with_descriptor(int socket, std::span<const std::byte> bytes, int descriptor) noexcept;

struct received_message {
    ssize_t length = -1;     // 0: the connection has ended, if messages are never empty
    int error = 0;           // errno, when length is negative
    bool truncated = false;  // the message was longer than the buffer
    unique_fd descriptor;    // the first descriptor of the message; further ones are closed

    [[nodiscard]] bool would_block() const noexcept;
};

// Receives the next message. Repeats the call after a signal.
[[nodiscard]] received_message receive_with_descriptor(int socket,
                                                       std::span<std::byte> into) noexcept;

// Makes a non-blocking Unix packet socket, within the budget of descriptors, that forbids
// descriptors. If the result is empty, errno has the reason.
[[nodiscard]] unique_fd make_local_socket() noexcept;

// The peer of a Unix socket may send descriptors to it. Descriptors that were not received are
// closed with the socket, and the sender controls how long that takes. So a socket whose peer is
// not known yet forbids them: the sender's call fails. Accepted sockets inherit the setting from
// the listening one. Kernels before Linux 6.16 do not support this, and the calls have no effect;
// close_in_background() covers that case.
void forbid_descriptors(int socket) noexcept;
void allow_descriptors(int socket) noexcept;
// Returns whether a descriptor may wait in the socket.
[[nodiscard]] bool may_hold_descriptors(int socket) noexcept;

}  // namespace ucs::sys
