// How much has come over a TCP connection, as the kernel counts it.
#pragma once

#include <cstdint>

namespace ucs::net {

// Returns the bytes of data that the other side has sent over this TCP socket and the kernel has
// received; 0 if the kernel does not tell. One system call. Any thread.
[[nodiscard]] std::uint64_t received_bytes(int fd) noexcept;

}  // namespace ucs::net
