#include "ucs/descriptor/descriptor_budget.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>

#include "ucs/log/log.hpp"
#include "ucs/time/clock.hpp"

namespace ucs::sys {
namespace {

constinit const log::component self{"ucs.descriptors"};

void report_once(std::uint64_t limit, std::uint64_t reserve) noexcept {
    constinit static std::atomic<bool> reported{false};
    if (reported.exchange(true, std::memory_order_relaxed)) return;
    log::warn(self,
              "no more descriptors are opened: of the limit of {}, {} are left to the program; "
              "raise it with ulimit -n",
              limit, reserve);
}

}  // namespace

unique_fd within_budget(unique_fd opened) noexcept {
    rlimit allowed{};
    if (!opened || ::getrlimit(RLIMIT_NOFILE, &allowed) != 0) return opened;
    const std::uint64_t limit = allowed.rlim_cur;
    const std::uint64_t reserve = descriptor_reserve(limit);
    if (static_cast<std::uint64_t>(opened.get()) < limit - reserve) return opened;
    opened.reset();
    report_once(limit, reserve);
    errno = EMFILE;
    return {};
}

bool has_descriptor_left() noexcept {
    return static_cast<bool>(within_budget(unique_fd(::eventfd(0, EFD_CLOEXEC))));
}

bool are_descriptors_scarce() noexcept {
    // Remember a shortage for a while: after sockets are closed, their numbers become free, and the
    // lowest free number looks like plenty.
    constexpr time::nanoseconds time_to_close = time::second;
    constinit static std::atomic<time::nanoseconds> last_found{0};
    rlimit allowed{};
    if (::getrlimit(RLIMIT_NOFILE, &allowed) != 0) return false;
    const std::uint64_t budget = allowed.rlim_cur - descriptor_reserve(allowed.rlim_cur);
    const unique_fd next(::eventfd(0, EFD_CLOEXEC));
    const time::nanoseconds now = time::now();
    if (next && static_cast<std::uint64_t>(next.get()) < budget / 6 * 5) {
        const time::nanoseconds found = last_found.load(std::memory_order_relaxed);
        return found != 0 && now - found < time_to_close;
    }
    last_found.store(now, std::memory_order_relaxed);
    return true;
}

unique_fd accept_within_budget(int listener) noexcept {
    if (!has_descriptor_left()) {
        pollfd queue{listener, POLLIN | POLLRDHUP, 0};
        const bool has_some = ::poll(&queue, 1, 0) > 0;
        // Accept from a listener that was shut down, to empty its queue; these connections are
        // closed at once.
        if ((queue.revents & POLLRDHUP) == 0) {
            errno = has_some ? EMFILE : EAGAIN;
            return {};
        }
    }
    return unique_fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

}  // namespace ucs::sys
