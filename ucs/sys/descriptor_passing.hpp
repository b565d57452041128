// Messages of Unix sockets that carry a descriptor.
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

}  // namespace ucs::sys
