#include "ucs/net/reply_state.hpp"

// The C library's own header, <netinet/tcp.h>, lacks the counter and cannot be included as well.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace ucs::net {

std::uint64_t received_bytes(int fd) noexcept {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return info.tcpi_bytes_received;
}

}  // namespace ucs::net
