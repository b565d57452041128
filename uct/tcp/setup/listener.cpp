#include "uct/tcp/setup/listener.hpp"

#include <new>

#include "ucs/net/socket.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

// A new connection waits so long for the end of an older one between the same two interfaces.
constexpr ucs::time::nanoseconds older_connection_wait = 2 * ucs::time::second;

}  // namespace

struct listener::pending_connection final : ucs::net::acceptor::pending {
    pending_connection(listener& accepting, ucs::unique_fd socket) noexcept
        : pending(socket.get()),
          owner(accepting),
          fd(std::move(socket)),
          handshake(accepting.owner_.own()) {}

    void on_readable() noexcept override { owner.on_greeting(*this); }
    void on_tick(ucs::time::nanoseconds now) noexcept override {
        owner.decide(*this, now >= waits_until);
    }
    // Sends a greeting. The socket's send buffer is empty, so it takes the whole greeting.
    bool answer(const packed_greeting& reply) const noexcept {
        return ucs::net::send_whole(fd.get(), reply.bytes());
    }

    listener& owner;
    ucs::unique_fd fd;
    accepting_handshake handshake;
    ucs::time::nanoseconds waits_until =
        0;  // deadline for the end of an older connection; 0: this one does not wait
};

listener::listener(iface& owner, ucs::async::event_loop& events)
    : owner_(owner),
      acceptor_(events, {.log = log,
                         .rejected = owner.rejected(),
                         .name = owner.where().device,
                         .limits = ucs::net::acceptor::default_limits(
                             ucs::time::from_seconds(owner.options().greeting_timeout.seconds)),
                         .accept = [this](int socket) -> std::unique_ptr<pending_connection> {
                             ucs::unique_fd fd = ucs::net::accept_stream(socket);
                             if (!fd) return nullptr;
                             tune(fd.get(), owner_.options(), owner_.is_loopback());
                             return std::make_unique<pending_connection>(*this, std::move(fd));
                         }}) {}

ucs_status_t listener::open(const settings& options, listen_point& v4, listen_point& v6) {
    ucs_status_t failure = UCS_OK;
    std::vector<int> listeners;
    for (listen_point* point : {&v4, &v6}) {
        if (point->ip.is_none()) continue;
        auto opened = listen_on(point->ip, options);
        if (opened) {
            point->port = local_address(opened->get()).port();
            listeners.push_back(opened->get());
            listeners_.push_back(std::move(*opened));
        } else {
            // One family is enough. For example, an IPv6 address cannot be bound in the first
            // seconds after its interface came up.
            failure = opened.status();
            *point = {};
        }
    }
    return listeners.empty() ? failure : acceptor_.open(std::move(listeners));
}

void listener::on_greeting(pending_connection& pending) noexcept {
    // The next greeting has often arrived already.
    while (read_greeting(pending)) {
    }
}

// Reads and handles some bytes. Returns false if the pending connection was removed, or if there is
// nothing more to read now.
bool listener::read_greeting(pending_connection& pending) noexcept {
    const ssize_t got = ucs::net::receive_some(pending.fd.get(), pending.handshake.space());
    if (got == 0) return false;
    if (got < 0) {
        acceptor_.reject(pending, nullptr);  // the peer cancelled its attempt, or scans ports
        return false;
    }
    switch (pending.handshake.take(static_cast<std::size_t>(got))) {
        case accepting_handshake::step::incomplete:
            return true;
        case accepting_handshake::step::send_challenge:
            acceptor_.prefer(pending);
            if (pending.answer(pending.handshake.challenge())) return true;
            acceptor_.reject(pending, nullptr);
            break;
        case accepting_handshake::step::agreed:
            decide(pending, false);
            break;
        case accepting_handshake::step::refuse:
            refuse(pending, pending.handshake.reason());
            break;
        case accepting_handshake::step::unproven:
            acceptor_.reject(pending,
                             "says that this process proved nothing to it; if it is of the same "
                             "job, the keys differ");
            break;
        case accepting_handshake::step::impostor:
            acceptor_.reject(pending, "does not prove that it is the interface that it names");
            break;
        case accepting_handshake::step::foreign:
            acceptor_.reject(pending, "sent no greeting of this protocol");
    }
    return false;
}

// Decides between this connection and an existing one to the same interface. `end_older`: the
// deadline for the end of the existing one has passed, so it is closed first.
void listener::decide(pending_connection& pending, bool end_older) noexcept {
    try {
        const peer_key from{pending.handshake.hello().from, pending.handshake.peer_address()};
        connection* existing = &owner_.connection_for_greeting(from);
        if (end_older) {
            existing->fail_after_reading(UCS_ERR_CONNECTION_RESET);
            existing = &owner_.connection_for_greeting(from);
        }
        check_greeting(pending, *existing);
    } catch (const std::bad_alloc&) {
        acceptor_.reject(pending, "cannot be let in, out of memory");
    }
}

void listener::check_greeting(pending_connection& pending, connection& existing) {
    switch (existing.check_greeting(pending.handshake.hello())) {
        case connection::verdict::welcome:
            welcome(pending, existing);
            break;
        case connection::verdict::lost_race:
            refuse(pending, wire::refusal_reason::lost_race);
            break;
        case connection::verdict::stale:
            refuse(pending, wire::refusal_reason::stale);
            break;
        case connection::verdict::wait:
            wait_for_older(pending);
    }
}

void listener::wait_for_older(pending_connection& pending) noexcept {
    if (pending.waits_until != 0) return;
    pending.waits_until = ucs::time::now() + older_connection_wait;
    acceptor_.defer(pending);
}

void listener::refuse(pending_connection& pending, wire::refusal_reason reason) noexcept {
    const wire::greeting& hello = pending.handshake.hello();
    ucs::log::debug(log, "{}: a connection from {} is refused, reason {}", owner_.where().device,
                    remote_address(pending.fd.get()).text(), static_cast<unsigned>(reason));
    static_cast<void>(pending.answer({{.kind = wire::greeting_kind::refusal,
                                       .attempt = owner_.last_attempt(),
                                       .from = hello.to,
                                       .to = hello.from,
                                       .reason = reason,
                                       .terms = owner_.own().terms()},
                                      {}}));
    acceptor_.reject(pending, explain_own_refusal(reason));
}

void listener::welcome(pending_connection& pending, connection& into) noexcept {
    const wire::greeting hello = pending.handshake.hello();
    const ucs::security::key session = pending.handshake.session_key();
    const bool answered = pending.answer(pending.handshake.welcome(owner_.last_attempt()));
    ucs::unique_fd fd = std::move(pending.fd);
    acceptor_.remove(pending);
    if (answered) {
        into.adopt(std::move(fd), hello.attempt, session);
    } else {
        owner_.attend(into);  // removes `into` if it was created for this attempt
    }
}

}  // namespace uct::tcp
