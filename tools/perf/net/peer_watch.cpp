#include "tools/perf/net/peer_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

constexpr int grace_ms = 5'000;
// The interval is long enough that sending keepalives does not disturb a measurement.
constexpr int alive_interval_ms = 2'000;

ucs::unique_fd new_eventfd() {
    ucs::unique_fd fd(::eventfd(0, EFD_CLOEXEC));
    if (!fd) throw failure(fmt::format("eventfd: {}", std::strerror(errno)));
    return fd;
}

// Polls again after a signal. Returns false if the timeout has expired.
bool poll_restarting(pollfd* fds, nfds_t count, int timeout_ms) {
    int ready = 0;
    do {
        ready = ::poll(fds, count, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    return ready != 0;
}

}  // namespace

peer_watch::peer_watch(control& peer, stop_flag& stop)
    : end_(new_eventfd()), thread_([this, &peer, &stop] { run(peer, stop); }) {}

peer_watch::~peer_watch() {
    ::eventfd_write(end_.get(), 1);
    thread_.join();
}

void peer_watch::run(control& peer, stop_flag& stop) {
    std::array<pollfd, 2> fds{{{end_.get(), POLLIN, 0}, {peer.fd(), POLLRDHUP, 0}}};
    while (!poll_restarting(fds.data(), fds.size(), alive_interval_ms)) {
        peer.send_alive();
        if (!peer.is_silent()) continue;
        found_silence_ = true;
        break;
    }
    if (fds[0].revents != 0) return;
    stop.request();
    fds[0].revents = 0;
    poll_restarting(fds.data(), 1, grace_ms);
    if (fds[0].revents != 0) return;
    fmt::print(stderr,
               "ucx_perftest: the peer is gone or stopped and the library does not "
               "return; exiting\n");
    std::_Exit(exit_failure);
}

}  // namespace tools::perf
