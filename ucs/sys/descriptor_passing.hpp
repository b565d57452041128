// Descriptors that go over Unix sockets, wanted ones and others.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// Any thread. Neither blocks nor raises SIGPIPE.

// One message, with a descriptor unless that is -1. 0 or errno.
int send_with_descriptor(int socket, std::span<const std::byte> bytes, int descriptor) noexcept;

struct received_message {
    ssize_t length = -1;     // 0: the connection is over, where messages are not empty
    int error = 0;           // errno, when length is negative
    bool truncated = false;  // it was longer than the buffer
    unique_fd descriptor;    // the first that came along; further ones are closed

    [[nodiscard]] bool nothing_yet() const noexcept;
};

// The next message. A signal does not end it.
[[nodiscard]] received_message receive_with_descriptor(int socket,
                                                       std::span<std::byte> into) noexcept;

// Makes a non-blocking Unix socket for packets, within the budget of descriptors, that forbids
// descriptors. None: errno says why.
[[nodiscard]] unique_fd make_local_socket() noexcept;

// The peer of a Unix socket may send descriptors to it, and those that were not received are closed
// with the socket, which may take as long as the sender likes. So a socket whose other end
// is not known yet forbids them: the sender's call fails. Accepted sockets inherit it from the
// listening one. Kernels before Linux 6.16 cannot, and nothing happens: close_aside helps there.
void forbid_descriptors(int socket) noexcept;
void allow_descriptors(int socket) noexcept;
// Returns whether a descriptor may wait in the socket.
[[nodiscard]] bool may_hold_descriptors(int socket) noexcept;

}  // namespace ucs::sys
