#include "ucg/node/watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ucg/node/log.hpp"

namespace ucg::node {

watch::watch(std::span<const pid_t> pids) : lives_(pids.size()) {
    for (std::size_t rank = 0; rank < pids.size(); ++rank) {
        if (pids[rank] == 0 || pids[rank] == ::getpid()) continue;
        lives_[rank].fd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pids[rank], 0)));
        if (lives_[rank].fd) continue;
        lives_[rank].dead = errno == ESRCH;
        if (errno != ESRCH)
            ucs::log::warn(node_log, "the death of process {} will not be noticed: pidfd_open: {}",
                           pids[rank], std::strerror(errno));
    }
}

bool watch::is_dead(rank_t rank) noexcept {
    life& of = lives_[rank];
    if (of.dead || !of.fd) return of.dead;
    pollfd asked{of.fd.get(), POLLIN, 0};
    of.dead = ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
    return of.dead;
}

}  // namespace ucg::node
