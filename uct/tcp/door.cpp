#include "uct/tcp/door.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <new>

#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

// How long a new connection waits for the older one of the same pair to end.
constexpr ucs::time::nanoseconds patience_with_older = 2 * ucs::time::second;

}  // namespace

struct door::visitor final : ucs::net::acceptor::pending {
    visitor(door& where, ucs::unique_fd socket) noexcept
        : pending(socket.get()), at(where), fd(std::move(socket)) {}

    void on_readable() noexcept override { at.on_greeting(*this); }
    void on_tick(ucs::time::nanoseconds now) noexcept override {
        at.decide(*this, wire::parse_greeting(hello).value, now >= waits_until);
    }
    bool answer(const wire::greeting& reply) const noexcept {
        std::array<std::byte, wire::greeting_size> bytes;
        reply.pack(bytes);
        return ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
               static_cast<ssize_t>(bytes.size());
    }

    door& at;
    ucs::unique_fd fd;
    std::size_t have = 0;
    std::array<std::byte, wire::greeting_size> hello{};
    ucs::time::nanoseconds waits_until = 0;  // for the end of an older connection; 0: it does not
};

door::door(iface& owner, ucs::async::event_loop& events)
    : owner_(owner),
      acceptor_(events, {.log = log,
                         .rejected = owner.rejected(),
                         .name = owner.where().device,
                         .limits = ucs::net::acceptor::default_limits(
                             ucs::time::from_seconds(owner.options().greeting_timeout.seconds)),
                         .accept = [this](int listener) -> std::unique_ptr<visitor> {
                             ucs::unique_fd fd = ucs::net::accept_stream(listener);
                             if (!fd) return nullptr;
                             tune(fd.get(), owner_.options(), owner_.is_loopback());
                             return std::make_unique<visitor>(*this, std::move(fd));
                         }}) {}

ucs_status_t door::open(const settings& options, listen_point& v4, listen_point& v6) {
    ucs_status_t failure = UCS_OK;
    std::vector<int> listeners;
    for (listen_point* point : {&v4, &v6}) {
        if (point->ip.is_none()) continue;
        auto listener = listen_on(point->ip, options);
        if (listener) {
            point->port = local_address(listener->get()).port();
            listeners.push_back(listener->get());
            listeners_.push_back(std::move(*listener));
        } else {
            // One family is enough. For seconds after an interface came up its IPv6 address, for
            // example, is there and cannot be bound yet.
            failure = listener.status();
            *point = {};
        }
    }
    return listeners.empty() ? failure : acceptor_.open(std::move(listeners));
}

void door::on_greeting(visitor& who) noexcept {
    const ssize_t got = ::recv(who.fd.get(), who.hello.data() + who.have,
                               who.hello.size() - who.have, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        acceptor_.reject(who, nullptr);  // an attempt that its side gave up, or a port scan
        return;
    }
    who.have += static_cast<std::size_t>(got);
    if (who.have < who.hello.size()) return;
    const wire::parsed_greeting parsed = wire::parse_greeting(who.hello);
    if (parsed.error == wire::greeting_error::other_version) {
        refuse(who, parsed.value, wire::refusal_reason::other_version);
    } else if (parsed.error != wire::greeting_error::none ||
               parsed.value.kind != wire::greeting_kind::hello) {
        acceptor_.reject(who, "sent no greeting of this protocol");
    } else {
        decide(who, parsed.value, false);
    }
}

void door::decide(visitor& who, const wire::greeting& hello, bool end_older) noexcept {
    try {
        if (end_older) {
            owner_.connection_for_greeting(hello.from).give_up(UCS_ERR_CONNECTION_RESET);
        }
        judge(who, hello);
    } catch (const std::bad_alloc&) {
        acceptor_.reject(who, "cannot be let in, out of memory");
    }
}

void door::judge(visitor& who, const wire::greeting& hello) {
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
            wait_for_older(who);
    }
}

void door::wait_for_older(visitor& who) noexcept {
    if (who.waits_until != 0) return;
    who.waits_until = ucs::time::now() + patience_with_older;
    acceptor_.defer(who);
}

void door::refuse(visitor& who, const wire::greeting& hello, wire::refusal_reason reason) noexcept {
    ucs::log::debug(log, "{}: a connection from {} is refused, reason {}", owner_.where().device,
                    remote_address(who.fd.get()).text(), static_cast<unsigned>(reason));
    static_cast<void>(who.answer({.kind = wire::greeting_kind::refusal,
                                  .attempt = owner_.last_attempt(),
                                  .from = hello.to,
                                  .to = hello.from,
                                  .reason = reason}));
    acceptor_.remove(who);
}

void door::let_in(visitor& who, const wire::greeting& hello, connection& into) noexcept {
    const bool answered = who.answer({.kind = wire::greeting_kind::welcome,
                                      .attempt = owner_.last_attempt(),
                                      .from = owner_.id(),
                                      .to = hello.from});
    ucs::unique_fd fd = std::move(who.fd);
    acceptor_.remove(who);
    if (answered) {
        into.adopt(std::move(fd), hello.attempt);
    } else {
        owner_.attend(into);  // goes if it was made for this one
    }
}

}  // namespace uct::tcp
