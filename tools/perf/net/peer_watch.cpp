#include "tools/perf/net/peer_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

constexpr int grace_ms = 5'000;

ucs::unique_fd new_eventfd() {
    ucs::unique_fd fd(::eventfd(0, EFD_CLOEXEC));
    if (!fd) throw failure(fmt::format("eventfd: {}", std::strerror(errno)));
    return fd;
}

void poll_restarting(pollfd* fds, nfds_t count, int timeout_ms) {
    while (::poll(fds, count, timeout_ms) < 0 && errno == EINTR) {
    }
}

}  // namespace

peer_watch::peer_watch(int control_fd, stop_flag& stop)
    : end_(new_eventfd()), thread_([this, control_fd, &stop] { run(control_fd, stop); }) {}

peer_watch::~peer_watch() {
    ::eventfd_write(end_.get(), 1);
    thread_.join();
}

void peer_watch::run(int control_fd, stop_flag& stop) const {
    std::array<pollfd, 2> fds{{{end_.get(), POLLIN, 0}, {control_fd, POLLRDHUP, 0}}};
    poll_restarting(fds.data(), fds.size(), -1);
    if (fds[0].revents != 0) return;
    stop.request();
    fds[0].revents = 0;
    poll_restarting(fds.data(), 1, grace_ms);
    if (fds[0].revents != 0) return;
    fmt::print(stderr, "ucx_perftest: the peer is gone and the library does not return; exiting\n");
    std::_Exit(exit_failure);
}

}  // namespace tools::perf
