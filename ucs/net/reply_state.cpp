#include "ucs/net/reply_state.hpp"

// The C library's own header, <netinet/tcp.h>, lacks the counter of received bytes and cannot be
// included as well.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace ucs::net {

reply_state reply_state_in(const tcp_info& info, bool unsent, time::nanoseconds now) noexcept {
    // A full receive window is not silence: our kernel sends window probes, and the peer's kernel
    // answers them. No other packet is in flight then, so a single lost probe proves nothing: the
    // next probe may be sent minutes later.
    constexpr unsigned probes_needed = 3;
    // If the kernel cannot send data at all, for example on a link that is down, the count of
    // probes stays at one, without the backoff that follows probes that were sent.
    const bool stuck = unsent && info.tcpi_probes > 0 && info.tcpi_backoff == 0;
    const auto ago = std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv);
    return {info.tcpi_unacked > 0 || info.tcpi_probes >= probes_needed || stuck,
            now - ago * time::millisecond};
}

reply_state reply_state_of(int fd, time::nanoseconds now) noexcept {
    tcp_info info{};
    socklen_t size = sizeof info;
    int unsent = 0;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        ::ioctl(fd, SIOCOUTQNSD, &unsent) != 0)
        return {};
    return reply_state_in(info, unsent > 0, now);
}

std::uint64_t received_bytes(int fd) noexcept {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return info.tcpi_bytes_received;
}

}  // namespace ucs::net
