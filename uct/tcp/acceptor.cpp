#include "uct/tcp/acceptor.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "uct/tcp/socket.hpp"

namespace uct::tcp {

namespace {

constexpr ucs::time::nanoseconds tick_interval = 10 * ucs::time::millisecond;
constexpr ucs::time::nanoseconds pause_without_means = 100 * ucs::time::millisecond;

bool is_readable(int fd) noexcept {
    pollfd asked{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&asked, 1, 0) > 0;
}

}  // namespace

acceptor::~acceptor() {
    for (const auto& who : strangers_)
        who->on_end();
    while (!strangers_.empty())
        remove(*strangers_.front());
    watch(false);
    if (timer_ != 0) events_.remove_timer(timer_);
}

ucs::unique_fd accept_stream(int listener) noexcept {
    return ucs::unique_fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

socket_address acceptor::stranger::from() const noexcept {
    return remote_address(fd_);
}

ucs_status_t acceptor::open(std::vector<int> listeners) noexcept {
    listeners_ = std::move(listeners);
    return watch(true) ? UCS_OK : UCS_ERR_NO_MEMORY;
}

// False: there is no memory, and none is watched.
bool acceptor::watch(bool on) noexcept {
    watched_ = on;
    for (const int fd : listeners_) {
        if (!on) {
            events_.remove(fd);
        } else if (events_.add(fd, EPOLLIN, [this, fd](std::uint32_t) { on_knock(fd); }) !=
                   UCS_OK) {
            watch(false);
            return false;
        }
    }
    return true;
}

void acceptor::on_knock(int listener) noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    for (unsigned i = 0; i < terms_.at_once; ++i) {
        if (strangers_.size() >= terms_.most) {
            if (!is_readable(listener)) return;
            if (!make_room(now)) return wait_for_room();
        }
        std::unique_ptr<stranger> fresh;
        try {
            fresh = terms_.accept(listener);
        } catch (const std::bad_alloc&) {
            return wait_for_means(ENOMEM);
        }
        if (fresh != nullptr) {
            if (!admit(std::move(fresh))) return wait_for_means(ENOMEM);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (strangers_.size() < terms_.most / 2) complained_ = false;
            return;
        } else if (const int error = errno; error != ECONNABORTED && error != EINTR) {
            // A crowd may be what has taken the descriptors.
            if (!make_room(now)) return wait_for_means(error);
        }
    }
}

// False: there is no memory for it, and it is closed.
bool acceptor::admit(std::unique_ptr<stranger> fresh) noexcept {
    try {
        strangers_.push_back(std::move(fresh));
    } catch (const std::bad_alloc&) {
        return false;
    }
    ++accepted_;
    stranger& who = *strangers_.back();
    who.place_ = std::prev(strangers_.end());
    who.since_ = ucs::time::now();
    if (!need_ticks() ||
        events_.add(who.fd_, EPOLLIN, [&who](std::uint32_t) { who.on_words(); }) != UCS_OK) {
        remove(who);
        return false;
    }
    who.on_words();  // they are usually there already
    return true;
}

// Those who said nothing for long go, so that a crowd of them does not keep out who speaks.
bool acceptor::make_room(ucs::time::nanoseconds now) noexcept {
    const auto silent = std::find_if(strangers_.begin(), strangers_.end(),
                                     [](const auto& who) { return !who->held_; });
    if (silent == strangers_.end() || now < (*silent)->since_ + least_patience) return false;
    remove(**silent);
    return true;
}

void acceptor::wait_for_room() noexcept {
    if (!std::exchange(complained_, true)) {
        terms_.rejected.warn(terms_.log,
                             "{} connections to {} have not said who they are: others wait, and "
                             "the silent ones are closed",
                             strangers_.size(), terms_.name);
    }
    pause(tick_interval);
}

void acceptor::wait_for_means(int error) noexcept {
    if (!std::exchange(complained_, true)) {
        terms_.rejected.warn(terms_.log, "accept() on {}: {}; those who connect have to wait",
                             terms_.name, error_text(error));
    }
    pause(pause_without_means);
}

// Without a timer nothing would end the pause.
void acceptor::pause(ucs::time::nanoseconds how_long) noexcept {
    if (!need_ticks()) return;
    watch(false);
    resume_ = ucs::time::now() + how_long;
}

void acceptor::hold(stranger& who) noexcept {
    if (std::exchange(who.held_, true)) return;
    events_.remove(who.fd_);
}

void acceptor::remove(stranger& who) noexcept {
    if (!who.held_) events_.remove(who.fd_);
    strangers_.erase(who.place_);
}

void acceptor::show_out(stranger& who, const char* why) noexcept {
    if (why != nullptr) {
        terms_.rejected.warn(terms_.log, "{}: somebody at {} {}; its connection is closed",
                             terms_.name, who.from().text(), why);
    }
    remove(who);
}

bool acceptor::need_ticks() noexcept {
    if (timer_ == 0) timer_ = events_.add_timer(tick_interval, [this] { on_tick(); });
    return timer_ != 0;
}

void acceptor::on_tick() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    for (auto next = strangers_.begin(); next != strangers_.end();) {
        stranger& who = **next++;
        if (who.held_) {
            who.on_tick(now);
        } else if (now - who.since_ >= terms_.patience) {
            show_out(who, "connected and did not say who it is");
        }
    }
    if (!watched_ && now >= resume_) watch(true);
    if (!strangers_.empty() || !watched_) return;
    events_.remove_timer(timer_);
    timer_ = 0;
}

}  // namespace uct::tcp
