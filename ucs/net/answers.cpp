#include "ucs/net/answers.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace ucs::net {

answer_state answers_in(const tcp_info& info, bool unsent, time::nanoseconds now) noexcept {
    // A full receive window is no silence: the kernel asks, and the peer's answers. Nothing else is
    // on the way then, so one probe that is lost is nothing yet: the next may come minutes later.
    constexpr unsigned probes_needed = 3;
    // Data that the kernel cannot even send, as with a link that is down, leaves one probe for
    // ever, and without the backing off that follows those that were sent.
    const bool stuck = unsent && info.tcpi_probes > 0 && info.tcpi_backoff == 0;
    const auto ago = std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv);
    return {info.tcpi_unacked > 0 || info.tcpi_probes >= probes_needed || stuck,
            now - ago * time::millisecond};
}

answer_state answers_of(int fd, time::nanoseconds now) noexcept {
    tcp_info info{};
    socklen_t size = sizeof info;
    int unsent = 0;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        ::ioctl(fd, SIOCOUTQNSD, &unsent) != 0)
        return {};
    return answers_in(info, unsent > 0, now);
}

}  // namespace ucs::net
