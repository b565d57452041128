// Reads the kernel's count of bytes that a TCP connection has received.
#pragma once

#include <cstdint>

namespace ucs::net {

// Returns the bytes of data that the kernel has received over this TCP socket; 0 if the kernel does
// not report them. One system call. Any thread.
[[nodiscard]] std::uint64_t received_bytes(int fd) noexcept;

}  // namespace ucs::net
