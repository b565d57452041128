// TCP sockets of the control connection.
#pragma once

#include <cstdint>
#include <string>

#include "ucs/type/unique_fd.hpp"

namespace tools::perf {

struct accepted {
    ucs::unique_fd fd;
    std::string peer;  // "127.0.0.1:40000"
};

// Each function throws failure with the system's reason. Sockets are non-blocking, detect a dead
// peer by keepalive within about 15 seconds, and send small frames at once.
[[nodiscard]] ucs::unique_fd listen_on(std::uint16_t port, bool ipv6);
// Prepares a socket that accept() returned.
void make_control_socket(int fd);
[[nodiscard]] ucs::unique_fd connect_to(const std::string& host, std::uint16_t port, bool ipv6);

}  // namespace tools::perf
