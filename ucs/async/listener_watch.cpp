#include "ucs/async/listener_watch.hpp"

#include <sys/epoll.h>

#include <utility>

namespace ucs::async {

ucs_status_t listener_watch::start(std::vector<int> listeners) noexcept {
    listeners_ = std::move(listeners);
    return watch() ? UCS_OK : UCS_ERR_NO_MEMORY;
}

void listener_watch::stop() noexcept {
    unwatch();
    listeners_.clear();
    if (pause_ != 0) events_.remove_timer(std::exchange(pause_, 0));
}

void listener_watch::pause() noexcept {
    if (pause_ == 0) pause_ = events_.add_timer(pause_length, [this] { resume(); });
    if (pause_ != 0) unwatch();
}

void listener_watch::resume() noexcept {
    if (pause_ == 0) return;
    if (!is_held_ && !watch()) return;  // the timer tries again
    events_.remove_timer(std::exchange(pause_, 0));
}

void listener_watch::hold(bool on) noexcept {
    is_held_ = on;
    if (on) {
        unwatch();
    } else if (pause_ == 0 && !watch()) {
        pause();
    }
}

// Returns false if there is no memory; then no listener is watched.
bool listener_watch::watch() noexcept {
    if (std::exchange(is_watching_, true)) return true;
    for (const int fd : listeners_) {
        if (events_.add(fd, EPOLLIN, [this, fd](std::uint32_t) { accept_(fd); }) != UCS_OK) {
            unwatch();
            return false;
        }
    }
    return true;
}

void listener_watch::unwatch() noexcept {
    if (!std::exchange(is_watching_, false)) return;
    for (const int fd : listeners_)
        events_.remove(fd);
}

}  // namespace ucs::async
