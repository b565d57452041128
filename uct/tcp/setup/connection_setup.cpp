#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "ucs/net/socket.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/tcp/connection.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

constexpr ucs::time::nanoseconds millisecond = 1'000'000;
constexpr ucs::time::nanoseconds longest_pause = 1000 * millisecond;

// The side that lost a race waits for the winner's connection. If that does not come, it connects
// again.
constexpr ucs::time::nanoseconds race_pause = 1000 * millisecond;

// Normally the winner's connection comes after one lost race. A peer that claims to win again and
// again makes none.
constexpr unsigned most_lost_races = 10;

ucs::time::nanoseconds in_nanoseconds(const ucs::config::duration& time) noexcept {
    return static_cast<ucs::time::nanoseconds>(std::min(time.seconds, 1e9) * 1e9);
}

// Errors that a repeated attempt cannot resolve.
bool is_final(int error) noexcept {
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
           error == EACCES || error == EPERM || error == EAFNOSUPPORT || error == EINVAL;
}

bool out_of_something(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

void connection::start() {
    if (paths_.empty()) {
        ucs::log::error(log, "{} left and has no address to connect to again", peer_name());
        fail(UCS_ERR_UNREACHABLE);
        return;
    }
    const reach::path& path = paths_[path_];
    silent_checks_ = 0;
    if (!open_socket(path)) return;
    due_ = ucs::time::now() + in_nanoseconds(owner_.options().connect_timeout);
    owner_.need_ticks();
    const socket_address target(path.to.ip, path.to.port);
    if (::connect(writer.socket.fd(), target.data(), target.size()) == 0) {
        on_connected();
    } else if (errno == EINPROGRESS) {
        writer.watch(EPOLLOUT);
    } else {
        attempt_failed("connect()", errno);
    }
}

bool connection::open_socket(const reach::path& path) {
    writer.socket.open(open_stream(path.to.ip.family()));
    if (!writer.socket.is_open()) {
        attempt_failed("socket()", errno);
        return false;
    }
    tune(writer.socket.fd(), owner_.options(), owner_.is_loopback());
    if (!owner_.options().bind_source || owner_.is_loopback()) return true;
    const int yes = 1;
    static_cast<void>(
        ::setsockopt(writer.socket.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes));
    const socket_address source(path.from, 0);
    if (::bind(writer.socket.fd(), source.data(), source.size()) == 0) return true;
    attempt_failed("bind()", errno);
    return false;
}

void connection::on_connected() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(writer.socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
        attempt_failed("connect()", error);
        return;
    }
    if (!move(event::connected)) return;
    handshake_.reset(new (std::nothrow) connecting_handshake(
        owner_.own(), key.interface_id, *peer_address_, owner_.next_attempt()));
    if (handshake_ == nullptr) {
        attempt_failed("the greeting", ENOMEM);
    } else if (send_greeting(handshake_->hello())) {
        writer.watch(EPOLLIN);
    }
}

// Returns false if the greeting was not sent; then the attempt has failed.
bool connection::send_greeting(const packed_greeting& greeting) {
    const std::span<const std::byte> bytes = greeting.bytes();
    // The socket's send buffer is empty, so it takes the whole greeting.
    const ssize_t sent =
        ::send(writer.socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(bytes.size())) return true;
    attempt_failed("send() of the greeting", sent < 0 ? errno : EPIPE);
    return false;
}

void connection::read_greeting_reply() {
    const std::span<std::byte> space = handshake_->space();
    const ssize_t got = ::recv(writer.socket.fd(), space.data(), space.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        attempt_failed("recv() of the answer", got < 0 ? errno : ECONNRESET);
        return;
    }
    switch (handshake_->take(static_cast<std::size_t>(got))) {
        case connecting_handshake::step::incomplete:
            break;
        case connecting_handshake::step::send_proof:
            static_cast<void>(send_greeting(handshake_->proof()));
            break;
        case connecting_handshake::step::welcomed:
            on_welcome();
            break;
        case connecting_handshake::step::refused:
            on_refusal(handshake_->reason());
            break;
        case connecting_handshake::step::unproven:
            on_missing_proof();
            break;
        case connecting_handshake::step::foreign:
            owner_.rejected().error(log, "{} answers like no interface of this version",
                                    peer_name());
            fail(UCS_ERR_UNREACHABLE);
    }
}

void connection::on_welcome() {
    peer_attempt_ = handshake_->attempt();
    note_connected();
    connected_to_ = remote_address(writer.socket.fd());
    move(event::welcomed);
    begin_encryption(handshake_->session_key(), true);
    handshake_.reset();
    if (!has_users()) owner_.need_ticks();
}

void connection::begin_encryption(const ucs::security::key& session, bool connected) noexcept {
    if (!owner_.own().terms().encrypted) return;
    if (!ucs::allocated([&] { writer.socket.encrypt(session, connected); }))
        fail_for_memory(*this, "it cannot be encrypted");
}

void connection::note_connected() noexcept {
    attempts_ = lost_races_ = 0;
}

void connection::on_missing_proof() {
    static_cast<void>(ucs::net::send_whole(writer.socket.fd(), handshake_->refusal().bytes()));
    owner_.rejected().error(log, "{} does not prove that it is the peer: {}", peer_name(),
                            owner_.own().terms().job_key
                                ? "the job keys differ, or another process has its port; all "
                                  "processes of the job need the same UCX_JOB_KEY or "
                                  "UCX_JOB_KEY_FILE"
                                : "another process has its port");
    fail(UCS_ERR_UNREACHABLE);
}

void connection::on_refusal(wire::refusal_reason reason) {
    switch (reason) {
        case wire::refusal_reason::lost_race:
            if (++lost_races_ > most_lost_races) {
                ucs::log::error(log,
                                "{} has refused {} connections because it connects itself, and "
                                "does not; given up",
                                peer_name(), lost_races_);
                fail(UCS_ERR_UNREACHABLE);
                break;
            }
            close_socket();
            if (move(event::gave_way)) retry_after(race_pause);
            break;
        case wire::refusal_reason::stale:
            attempt_failed("greeting", EALREADY);
            break;
        default:
            ucs::log::error(log, "{} refused the connection: {}", peer_name(),
                            explain_refusal(reason));
            fail(UCS_ERR_UNREACHABLE);
    }
}

void connection::attempt_failed(const char* operation, int error) {
    close_socket();
    const bool final_error = is_final(error);
    if (final_error && path_ + 1 < paths_.size()) {
        ucs::log::diag(log, "{} to {}: {}; the next address is tried", operation, peer_name(),
                       error_text(error));
        ++path_;
        if (move(event::gave_way)) retry_after(0);
        return;
    }
    if (final_error || ++attempts_ > owner_.options().max_connect_attempts) {
        ucs::log::error(log, "{} to {}: {}; given up after {} attempts", operation, peer_name(),
                        error_text(error), std::max(attempts_, 1U));
        fail(UCS_ERR_UNREACHABLE);
        return;
    }
    if (out_of_something(error) && attempts_ == 1) {
        ucs::log::warn(log, "{} to {}: {}; trying again", operation, peer_name(),
                       error_text(error));
    }
    if (move(event::gave_way)) {
        retry_after(std::min(longest_pause, (10 * millisecond) << std::min(attempts_, 7U)));
    }
}

void connection::retry_after(ucs::time::nanoseconds pause) {
    due_ = ucs::time::now() + pause;
    owner_.need_ticks();
    if (!has_users()) owner_.attend(*this);
}

void connection::close_socket() noexcept {
    if (!writer.socket.is_open()) return;
    owner_.forget_socket(writer.socket.fd(), *this);
    owner_.unused().remove(unused_);
    writer.socket.close();
    rx.reset();
    handshake_.reset();
}

connection::verdict connection::check_greeting(const wire::greeting& hello) const noexcept {
    switch (state_) {
        case state::greeting:
            return owner_.id() < hello.from ? verdict::lost_race : verdict::welcome;
        case state::established:
        case state::parting:
            // Attempt numbers wrap around, so they are compared by their distance.
            return static_cast<std::int32_t>(hello.attempt - peer_attempt_) > 0 ? verdict::wait
                                                                                : verdict::stale;
        case state::draining:
        case state::failed:
            return verdict::wait;
        default:
            return verdict::welcome;
    }
}

void connection::adopt(ucs::unique_fd socket, std::uint32_t peer_attempt,
                       const ucs::security::key& session) noexcept {
    if (!move(event::accepted)) return;
    close_socket();
    writer.socket.open(std::move(socket));
    peer_attempt_ = peer_attempt;
    begin_encryption(session, false);
    note_connected();
    close_denied_ = false;
    connected_to_ = remote_address(writer.socket.fd());
    writer.watch(EPOLLIN);
    due_ = ucs::time::now() + race_pause;
    owner_.need_ticks();
    if (!has_users() && writer.socket.is_open()) owner_.unused().add(unused_, writer.socket.fd());
}

}  // namespace uct::tcp
