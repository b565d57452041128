#include "uct/tcp/door.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

// How long accepting pauses when the process has no descriptor left.
constexpr ucs::time::nanoseconds pause_without_descriptors = 100'000'000;

// How long a new connection waits for the older one of the same pair to end.
constexpr ucs::time::nanoseconds patience_with_older = 2'000'000'000;

}  // namespace

door::~door() {
    for (const stranger& who : strangers_)
        events_.remove(who.fd.get());
    watch_listeners(false);
}

ucs_status_t door::open(const settings& options, listen_point& v4, listen_point& v6) {
    ucs_status_t failure = UCS_OK;
    for (listen_point* point : {&v4, &v6}) {
        if (point->ip.is_none()) continue;
        if (const ucs_status_t status = open_one(options, *point); status != UCS_OK) {
            // One family is enough. For seconds after an interface came up its IPv6 address, for
            // example, is there and cannot be bound yet.
            failure = status;
            *point = {};
        }
    }
    if (listeners_.empty()) return failure;
    return watch_listeners(true) ? UCS_OK : UCS_ERR_NO_MEMORY;
}

ucs_status_t door::open_one(const settings& options, listen_point& point) {
    auto listener = listen_on(point.ip, options);
    if (!listener) return listener.status();
    point.port = local_address(listener->get()).port();
    listeners_.push_back(std::move(*listener));
    return UCS_OK;
}

// False: there is no memory, and none is watched.
bool door::watch_listeners(bool on) noexcept {
    for (const ucs::unique_fd& listener : listeners_) {
        const int fd = listener.get();
        if (!on) {
            events_.remove(fd);
        } else if (events_.add(fd, EPOLLIN, [this, fd](std::uint32_t) { on_knock(fd); }) !=
                   UCS_OK) {
            watch_listeners(false);
            return false;
        }
    }
    return true;
}

void door::on_knock(int listener) {
    while (!pausing_) {
        ucs::unique_fd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!fd) {
            if (errno == ECONNABORTED || errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                on_accept_error(errno);
            } else if (strangers_.size() < most_strangers / 2) {
                crowded_ = false;
            }
            return;
        }
        try {
            admit(std::move(fd));
        } catch (const std::bad_alloc&) {
            on_accept_error(ENOMEM);
            return;
        }
        complained_ = false;
        if (strangers_.size() >= most_strangers) {
            watch_listeners(false);
            pausing_ = true;
        }
    }
}

void door::admit(ucs::unique_fd fd) {
    tune(fd.get(), owner_.options(), owner_.is_loopback());
    // inf is no number of nanoseconds; a week is as good.
    constexpr double week = 7.0 * 24 * 3600;
    const double patience = std::min(owner_.options().greeting_timeout.seconds, week);
    const ucs::time::nanoseconds now = ucs::time::now();
    const auto due = now + static_cast<ucs::time::nanoseconds>(patience * 1e9);
    const auto who = strangers_.insert(strangers_.end(), {std::move(fd), now, due});
    owner_.need_ticks();
    if (events_.add(who->fd.get(), EPOLLIN, [this, who](std::uint32_t) { on_greeting(who); }) !=
        UCS_OK) {
        strangers_.erase(who);
    }
}

void door::on_accept_error(int error) {
    if (!complained_) {
        ucs::log::warn(log, "accept() on {}: {}; peers that connect have to wait",
                       owner_.where().device, error_text(error));
    }
    complained_ = true;
    watch_listeners(false);
    pausing_ = true;
    resume_ = ucs::time::now() + pause_without_descriptors;
    owner_.need_ticks();
}

void door::on_greeting(strangers::iterator who) {
    const ssize_t got = ::recv(who->fd.get(), who->hello.data() + who->have,
                               who->hello.size() - who->have, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        show_out(who, nullptr);  // an attempt that its side gave up, or a port scan
        return;
    }
    who->have += static_cast<std::size_t>(got);
    if (who->have < who->hello.size()) return;
    const wire::parsed_greeting parsed = wire::parse_greeting(who->hello);
    if (parsed.error == wire::greeting_error::other_version) {
        refuse(who, parsed.value, wire::refusal_reason::other_version);
    } else if (parsed.error != wire::greeting_error::none ||
               parsed.value.kind != wire::greeting_kind::hello) {
        show_out(who, "sent no greeting of this protocol");
    } else {
        try_to_decide(who, parsed.value, false);
    }
}

void door::try_to_decide(strangers::iterator who, const wire::greeting& hello,
                         bool end_older) noexcept {
    try {
        if (end_older) {
            owner_.connection_for_greeting(hello.from).give_up(UCS_ERR_CONNECTION_RESET);
        }
        decide(who, hello);
    } catch (const std::bad_alloc&) {
        show_out(who, "cannot be let in, out of memory");
    }
}

void door::decide(strangers::iterator who, const wire::greeting& hello) {
    if (hello.to != owner_.id()) {
        refuse(who, hello, wire::refusal_reason::not_me);
        return;
    }
    connection& mine = owner_.connection_for_greeting(hello.from);
    switch (mine.judge(hello)) {
        case connection::verdict::welcome:
            let_in(who, hello, mine);
            break;
        case connection::verdict::lost_race:
            refuse(who, hello, wire::refusal_reason::lost_race);
            break;
        case connection::verdict::stale:
            refuse(who, hello, wire::refusal_reason::stale);
            break;
        case connection::verdict::wait:
            if (who->waits) break;
            who->waits = true;
            who->due = ucs::time::now() + patience_with_older;
            events_.remove(who->fd.get());
    }
}

bool door::answer(const stranger& who, const wire::greeting& reply) const noexcept {
    std::array<std::byte, wire::greeting_size> bytes;
    reply.pack(bytes);
    return ::send(who.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes.size());
}

void door::refuse(strangers::iterator who, const wire::greeting& hello,
                  wire::refusal_reason reason) {
    ucs::log::debug(log, "{}: a connection from {} is refused, reason {}", owner_.where().device,
                    remote_address(who->fd.get()).text(), static_cast<unsigned>(reason));
    static_cast<void>(answer(*who, {.kind = wire::greeting_kind::refusal,
                                    .attempt = owner_.last_attempt(),
                                    .from = hello.to,
                                    .to = hello.from,
                                    .reason = reason}));
    show_out(who, nullptr);
}

void door::let_in(strangers::iterator who, const wire::greeting& hello, connection& into) {
    if (!answer(*who, {.kind = wire::greeting_kind::welcome,
                       .attempt = owner_.last_attempt(),
                       .from = owner_.id(),
                       .to = hello.from})) {
        show_out(who, nullptr);
        owner_.attend(into);  // goes if it was made for this one
        return;
    }
    into.adopt(take(who), hello.attempt);
}

void door::show_out(strangers::iterator who, const char* why) {
    if (why != nullptr) {
        owner_.rejected().warn(log, "{}: somebody at {} {}; its connection is closed",
                               owner_.where().device, remote_address(who->fd.get()).text(), why);
    }
    static_cast<void>(take(who));
}

ucs::unique_fd door::take(strangers::iterator who) {
    if (!who->waits) events_.remove(who->fd.get());
    ucs::unique_fd fd = std::move(who->fd);
    strangers_.erase(who);
    return fd;
}

// A crowd that never speaks must not keep out those who do.
void door::make_room(ucs::time::nanoseconds now) {
    if (!std::exchange(crowded_, true)) {
        ucs::log::warn(log,
                       "{}: {} connections have not said who they are: others wait, and the silent "
                       "ones are closed",
                       owner_.where().device, strangers_.size());
    }
    for (auto next = strangers_.begin(); next != strangers_.end();) {
        const auto who = next++;
        if (!who->waits && now >= who->since + least_patience) show_out(who, nullptr);
    }
}

void door::on_tick(ucs::time::nanoseconds now) {
    for (auto next = strangers_.begin(); next != strangers_.end();) {
        const auto who = next++;
        if (who->waits) {
            const wire::greeting hello = wire::parse_greeting(who->hello).value;
            try_to_decide(who, hello, now >= who->due);
        } else if (now >= who->due) {
            show_out(who, "connected and did not say who it is");
        }
    }
    if (strangers_.size() >= most_strangers) make_room(now);
    if (pausing_ && now >= resume_ && strangers_.size() < most_strangers) {
        pausing_ = !watch_listeners(true);
    }
}

}  // namespace uct::tcp
