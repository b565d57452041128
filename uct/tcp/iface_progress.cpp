#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

constexpr ucs::time::nanoseconds tick_interval = 10'000'000;
constexpr unsigned most_events = 64;

// The connection that received last is read without epoll_wait, which saves a system call per
// message. After so many reads without data it loses this preference.
constexpr unsigned most_misses = 256;

// Reads of the hot connection between two polls of all others.
constexpr unsigned reads_per_poll_alone = 16;
constexpr unsigned reads_per_poll = 2;

// Limits the reads of what is dropped when the interface closes.
constexpr unsigned last_reads = 1024;

bool has_unsent(const connection& link) noexcept {
    return is_open(link.current_state()) && !link.writer.empty();
}

}  // namespace

unsigned iface::progress() {
    unsigned events = 0;
    if (hot_ != nullptr) {
        connection& link = *hot_;
        const unsigned came = link.receive();
        events += came;
        hot_misses_ = came > 0 ? 0 : hot_misses_ + 1;
        if (hot_misses_ > most_misses) hot_ = nullptr;
    }
    if (sockets_ > 0 && (hot_ == nullptr || until_poll_-- == 0)) {
        events += poll_sockets();
        until_poll_ = sockets_ == 1 ? reads_per_poll_alone : reads_per_poll;
    }
    events += dispatch_waiting();
    if (!attended_.empty()) [[unlikely]]
        events += settle_all();
    if (ticks_missing_) [[unlikely]]
        need_ticks();
    return events + report_failures();
}

bool iface::has_work() const noexcept {
    return !attended_.empty() || ticks_missing_ || base_iface::has_work();
}

unsigned iface::poll_sockets() {
    std::array<epoll_event, most_events> ready;
    const int limit = static_cast<int>(std::min(options_.max_poll, most_events));
    const int count = ::epoll_wait(epoll_.get(), ready.data(), limit, 0);
    unsigned events = 0;
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = ready[static_cast<std::size_t>(i)];
        auto& link = *static_cast<connection*>(event.data.ptr);
        events += link.on_socket(event.events);
        if ((event.events & EPOLLIN) != 0 && is_open(link.current_state())) {
            link.writer.socket.note_readable();
            hot_ = &link;
            hot_misses_ = 0;
        }
    }
    return events;
}

void iface::watch(int fd, int operation, std::uint32_t events, connection& link) {
    epoll_event wanted{};
    wanted.events = events;
    wanted.data.ptr = &link;
    if (::epoll_ctl(epoll_.get(), operation, fd, &wanted) != 0) {
        ucs::log::error(log, "epoll_ctl({}, {}): {}", operation, fd, error_text(errno));
        link.fail_after_reading(UCS_ERR_IO_ERROR);
        return;
    }
    if (operation == EPOLL_CTL_ADD) ++sockets_;
}

void iface::forget_socket(int fd, const connection& link) noexcept {
    if (hot_ == &link) hot_ = nullptr;
    if (link.writer.socket.watched == 0) return;
    // Closing the descriptor is not enough if a child of this process also holds the socket: epoll
    // would still report events for the connection.
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr));
    --sockets_;
}

void iface::attend(connection& link) noexcept {
    if (link.attended_hook.is_linked()) return;
    attended_.push_back(link);
    note_work();
}

unsigned iface::settle_all() {
    unsigned events = 0;
    // Connections attended from now on wait for the next call, so that this one ends.
    attended_list now;
    now.swap(attended_);
    while (!now.empty()) {
        connection& link = now.front();
        now.pop_front();
        events += link.settle();
        if (link.needs_ticks()) need_ticks();
        if (!link.attended_hook.is_linked()) remove_if_over(link);
    }
    return events;
}

void iface::remove_if_over(connection& link) {
    if (!link.is_removable()) return;
    if (const auto known = peers_.find(link.key);
        known != peers_.end() && known->second.get() == &link) {
        peers_.erase(known);
        return;
    }
    std::erase_if(others_, [&](const auto& other) { return other.get() == &link; });
}

void iface::need_ticks() noexcept {
    if (ticking_) return;
    timer_ = events_.add_timer(tick_interval, [this] { on_tick(); });
    ticking_ = timer_ != 0;
    const bool missed = std::exchange(ticks_missing_, !ticking_);
    if (ticks_missing_ && !missed) {
        ucs::log::error(log, "{}: out of memory for a timer: attempts to connect are not repeated",
                        where_.device);
    }
}

void iface::on_tick() {
    const ucs::time::nanoseconds now = ucs::time::now();
    bool again = false;
    for (const auto& [peer, link] : peers_) {
        if (link->needs_ticks()) link->on_tick(now);
        again |= link->needs_ticks();
    }
    if (again) return;
    ticking_ = false;
    events_.remove_timer(timer_);
}

iface::~iface() {
    close_with_goodbye();
    if (ticking_) events_.remove_timer(timer_);
    events_.remove(epoll_.get());
    attended_.clear();
}

void iface::close_with_goodbye() {
    for (const auto& [peer, link] : peers_)
        link->say_goodbye();
    const auto linger = static_cast<ucs::time::nanoseconds>(options_.linger.seconds * 1e9);
    const ucs::time::nanoseconds end = ucs::time::now() + linger;
    while (wait_for_some_unsent() && ucs::time::now() < end) {
        for (const auto& [peer, link] : peers_) {
            if (has_unsent(*link)) link->writer.send_queued();
        }
    }
    for (const auto& [peer, link] : peers_)
        link->writer.socket.drop_unread(last_reads);
}

// Waits a short time for sockets with unsent bytes. Returns false if there are none.
bool iface::wait_for_some_unsent() const {
    std::array<pollfd, most_events> waiting;
    std::size_t count = 0;
    for (const auto& [peer, link] : peers_) {
        if (!has_unsent(*link)) continue;
        waiting[count++] = {link->writer.socket.fd(), POLLOUT, 0};
        if (count == waiting.size()) break;
    }
    if (count > 0) ::poll(waiting.data(), count, 10);
    return count > 0;
}

}  // namespace uct::tcp
