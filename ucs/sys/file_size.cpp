#include "ucs/sys/file_size.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace ucs::sys {
namespace {

rlim_t largest_file() noexcept {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool fits(std::uint64_t size) noexcept {
    const rlim_t largest = largest_file();
    return largest == RLIM_INFINITY || size <= largest;
}

// Blocks SIGXFSZ in this thread during its lifetime, and discards the signal if a call of this
// thread has raised it. A signal that was pending before stays pending.
class signal_shield {
public:
    signal_shield() noexcept {
        ::sigemptyset(&signal_);
        ::sigaddset(&signal_, SIGXFSZ);
        sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
        ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    }
    ~signal_shield() {
        const int saved_errno = errno;
        if (!was_pending_) {
            constexpr timespec now{};
            while (::sigtimedwait(&signal_, nullptr, &now) < 0 && errno == EINTR) {
            }
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = saved_errno;
    }
    signal_shield(const signal_shield&) = delete;
    signal_shield& operator=(const signal_shield&) = delete;

private:
    sigset_t signal_{};
    sigset_t before_{};
    bool was_pending_ = false;
};

}  // namespace

std::string why_too_large(std::uint64_t size) {
    if (fits(size)) return {};
    return fmt::format(
        "the limit of file sizes (RLIMIT_FSIZE, ulimit -f) is {} bytes, {} are needed",
        largest_file(), size);
}

bool extend_file(int fd, std::size_t size) noexcept {
    if (!fits(size)) {
        errno = EFBIG;
        return false;
    }
    return ::ftruncate(fd, static_cast<off_t>(size)) == 0;
}

ssize_t write_within_limit(int fd, std::string_view bytes) noexcept {
    if (largest_file() == RLIM_INFINITY) return ::write(fd, bytes.data(), bytes.size());
    const signal_shield shield;
    return ::write(fd, bytes.data(), bytes.size());
}

}  // namespace ucs::sys
