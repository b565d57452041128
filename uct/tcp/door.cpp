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
        : pending(socket.get()), at(where), fd(std::move(socket)), handshake(where.owner_.own()) {}

    void on_readable() noexcept override { at.on_greeting(*this); }
    void on_tick(ucs::time::nanoseconds now) noexcept override {
        at.decide(*this, now >= waits_until);
    }
    // An empty send buffer takes it whole.
    bool answer(const packed_greeting& reply) const noexcept {
        const std::span<const std::byte> bytes = reply.bytes();
        return ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
               static_cast<ssize_t>(bytes.size());
    }

    door& at;
    ucs::unique_fd fd;
    accepting_handshake handshake;
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
    // The next record has often arrived already.
    while (read_greeting(who)) {
    }
}

// False: the visitor is gone, or there is nothing more to read now.
bool door::read_greeting(visitor& who) noexcept {
    const std::span<std::byte> space = who.handshake.space();
    const ssize_t got = ::recv(who.fd.get(), space.data(), space.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
        acceptor_.reject(who, nullptr);  // an attempt that its side gave up, or a port scan
        return false;
    }
    switch (who.handshake.take(static_cast<std::size_t>(got))) {
        case accepting_handshake::step::incomplete:
            return true;
        case accepting_handshake::step::send_challenge:
            acceptor_.prefer(who);
            if (who.answer(who.handshake.challenge())) return true;
            acceptor_.reject(who, nullptr);
            break;
        case accepting_handshake::step::agreed:
            decide(who, false);
            break;
        case accepting_handshake::step::refuse:
            refuse(who, who.handshake.reason());
            break;
        case accepting_handshake::step::unproven:
            acceptor_.reject(who,
                             "says that this process proved nothing to it; if it is of the same "
                             "job, the keys differ");
            break;
        case accepting_handshake::step::impostor:
            acceptor_.reject(who, "does not prove that it is the interface that it names");
            break;
        case accepting_handshake::step::foreign:
            acceptor_.reject(who, "sent no greeting of this protocol");
    }
    return false;
}

void door::decide(visitor& who, bool end_older) noexcept {
    try {
        const peer_key from{who.handshake.hello().from, who.handshake.peer_address()};
        connection* mine = &owner_.connection_for_greeting(from);
        if (end_older) {
            mine->give_up(UCS_ERR_CONNECTION_RESET);
            mine = &owner_.connection_for_greeting(from);
        }
        judge(who, *mine);
    } catch (const std::bad_alloc&) {
        acceptor_.reject(who, "cannot be let in, out of memory");
    }
}

void door::judge(visitor& who, connection& mine) {
    switch (mine.judge(who.handshake.hello())) {
        case connection::verdict::welcome:
            let_in(who, mine);
            break;
        case connection::verdict::lost_race:
            refuse(who, wire::refusal_reason::lost_race);
            break;
        case connection::verdict::stale:
            refuse(who, wire::refusal_reason::stale);
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

void door::refuse(visitor& who, wire::refusal_reason reason) noexcept {
    const wire::greeting& hello = who.handshake.hello();
    ucs::log::debug(log, "{}: a connection from {} is refused, reason {}", owner_.where().device,
                    remote_address(who.fd.get()).text(), static_cast<unsigned>(reason));
    static_cast<void>(who.answer({{.kind = wire::greeting_kind::refusal,
                                   .attempt = owner_.last_attempt(),
                                   .from = hello.to,
                                   .to = hello.from,
                                   .reason = reason,
                                   .terms = owner_.own().terms()},
                                  {}}));
    acceptor_.reject(who, explain_own_refusal(reason));
}

void door::let_in(visitor& who, connection& into) noexcept {
    const wire::greeting hello = who.handshake.hello();
    const ucs::security::key session = who.handshake.session_key();
    const bool answered = who.answer(who.handshake.welcome(owner_.last_attempt()));
    ucs::unique_fd fd = std::move(who.fd);
    acceptor_.remove(who);
    if (answered) {
        into.adopt(std::move(fd), hello.attempt, session);
    } else {
        owner_.attend(into);  // goes if it was made for this one
    }
}

}  // namespace uct::tcp
