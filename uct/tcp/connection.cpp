#include "uct/tcp/connection.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <new>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

// After this time without endpoints, a side proposes to close the connection.
constexpr ucs::time::nanoseconds unused_before_closing = 1'000'000'000;

// Limits the reads of what the peer sent before a connection that failed in sending ends.
constexpr unsigned last_reads = 1024;

// A peer that has accepted the connection and does not answer the greeting is given up after so
// many checks and this time. The kernel of the peer's host answers keep-alive probes, so they
// cannot distinguish a busy peer from another process that has its port. By default this takes
// three keep-alive intervals, 60 s, as with posix and with the clients of a listener.
constexpr unsigned max_silent_checks = 12;
constexpr ucs::time::nanoseconds shortest_silence = 20 * ucs::time::second;

}  // namespace

connection::connection(iface& owner, const peer_key& peer)
    : key(peer),
      writer(owner, *this),
      rx(owner.pool(), owner.handlers(), owner.unfinished(), *this),
      owner_(owner),
      unused_(*this) {}

connection::~connection() {
    owner_.forget(*this);
    close_socket();
    writer.end_operations(UCS_ERR_CANCELED);
}

void connection::attach(ep& user, std::vector<reach::path> paths,
                        const ucs::security::key& peer_address) noexcept {
    users_.push_back(user);
    owner_.unused().remove(unused_);
    if (!paths_.empty()) return;
    paths_ = std::move(paths);
    peer_address_ = peer_address;
}

void connection::detach(ep& user) noexcept {
    users_.erase(users_.iterator_to(user));
    writer.end_operations_of(user);
    if (!users_.empty()) return;
    due_ = ucs::time::now() + unused_before_closing;
    close_denied_ = false;
    // The peer may never answer the greeting, so the connection counts as unused at once. Otherwise
    // it first proposes to close, unless descriptors are scarce.
    if (state_ == state::greeting || ucs::sys::are_descriptors_scarce()) keep_as_unused();
    owner_.attend(*this);
}

bool connection::move(event trigger) {
    const auto next = next_state(state_, trigger);
    if (!next) {
        ucs::log::error(log, "connection to {}: '{}' must not happen when {}", peer_name(),
                        name_of(trigger), name_of(state_));
        return false;
    }
    ucs::log::trace(log, "connection to {}: {} -> {}", peer_name(), name_of(state_),
                    name_of(*next));
    state_ = *next;
    return true;
}

void connection::fail(ucs_status_t status) {
    if (state_ == state::failed) return;
    move(event::broken);
    failure_ = status;
    owner_.attend(*this);
}

// If the peer sent a goodbye before, it explains more than an error of the socket. Messages are
// delivered in progress only, so the final status is set there.
void connection::fail_after_reading(ucs_status_t status) {
    if (has_ended(state_)) return;
    if (!is_open(state_)) return fail(status);
    move(event::send_failed);
    failure_ = status;
    owner_.attend(*this);
}

ucs_status_t fail_for_memory(connection& link, const char* operation) {
    ucs::log::error(log, "the connection to {} is closed, out of memory: {}", link.peer_name(),
                    operation);
    link.fail(UCS_ERR_NO_MEMORY);
    return link.failure();
}

void connection::drop_unfinished_frame() noexcept {
    if (!has_ended(state_)) {
        owner_.rejected().error(
            log,
            "{} has begun a long message and not completed it, and unfinished ones of all peers "
            "take more than {} MB; the connection is closed",
            peer_name(), owner_.unfinished().most() >> 20);
    }
    fail(UCS_ERR_CONNECTION_RESET);
    close_socket();
}

ucs_status_t connection::blocked_status() {
    if (state_ == state::failed) return failure_;
    if (state_ == state::idle && move(event::wanted)) start();
    return state_ == state::failed ? failure_ : UCS_ERR_NO_RESOURCE;
}

unsigned connection::on_socket(std::uint32_t epoll_events) {
    switch (state_) {
        case state::connecting:
            on_connected();
            return 1;
        case state::greeting:
            read_greeting_reply();
            return 1;
        case state::established:
        case state::parting:
            break;
        default:
            return 0;
    }
    unsigned events = 0;
    if ((epoll_events & EPOLLOUT) != 0) events += writer.send_queued();
    if ((epoll_events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !has_ended(state_)) {
        events += receive();
    }
    return events;
}

unsigned connection::settle() {
    if (state_ == state::draining) read_what_arrived();
    if (state_ == state::failed) return failure_reported_ ? 0 : finish_failure();
    // No endpoint waits for the attempt. Once greeted, the peer may already send on the connection,
    // so in state greeting it is established first and then closed by agreement.
    if (!has_users() && (state_ == state::connecting || state_ == state::backing_off)) {
        fail(UCS_ERR_CANCELED);
    }
    return 0;
}

unsigned connection::finish_failure() {
    failure_reported_ = true;
    close_socket();
    for (ep& user : users_)
        owner_.report(user, failure_);
    writer.end_operations(failure_);
    return 1;
}

void connection::read_what_arrived() {
    for (unsigned reads = 0; reads < last_reads; ++reads) {
        const std::span<iovec> space = rx.space();
        if (space.empty()) break;
        stream_socket& socket = writer.socket;
        const ssize_t got =
            socket.is_encrypted() ? socket.read_encrypted(space) : socket.read_plain(space);
        unsigned events = 0;
        owner_.note_reading(*this);
        if (got <= 0 || rx.consume(static_cast<std::size_t>(got), events) != UCS_OK) break;
    }
    if ((rx.take_control() >> static_cast<unsigned>(wire::frame_kind::leave) & 1U) != 0) {
        ucs::log::debug(log, "{} had closed its interface", peer_name());
        failure_ = UCS_ERR_NOT_CONNECTED;
    }
    fail(failure_);
}

void connection::on_control(unsigned kinds) {
    const auto came = [kinds](wire::frame_kind kind) {
        return (kinds >> static_cast<unsigned>(kind) & 1U) != 0;
    };
    if (came(wire::frame_kind::leave)) {
        ucs::log::debug(log, "{} closed its interface", peer_name());
        fail(UCS_ERR_NOT_CONNECTED);
        return;
    }
    if (came(wire::frame_kind::close_request)) on_close_request();
    if (came(wire::frame_kind::close_denied) && state_ == state::parting) {
        move(event::close_denied);
        close_denied_ = true;
    }
    if (came(wire::frame_kind::close_granted) && state_ == state::parting) close_by_agreement();
}

void connection::on_close_request() {
    if (state_ == state::parting) {
        close_by_agreement();  // both sides proposed at once
    } else if (has_users() || !writer.empty()) {
        writer.send_control(wire::frame_kind::close_denied);
    } else {
        writer.send_control(wire::frame_kind::close_granted);
        if (state_ == state::established) close_by_agreement();
    }
}

// Only control frames can be queued: a connection proposes to close when it has no messages, and
// accepts none until the peer has denied. So everything that a flush waits for has been sent.
void connection::close_by_agreement() {
    if (!move(event::parted)) return;
    const std::uint64_t queued = writer.drop_queued();
    close_socket();
    owner_.attend(*this);
    writer.finish_flushes(queued);
}

void connection::on_end_of_stream() {
    if (state_ == state::parting && !has_users()) {
        close_by_agreement();
        return;
    }
    if (has_users()) {
        ucs::log::diag(log, "{} ended without closing the connection", peer_name());
    }
    fail(UCS_ERR_CONNECTION_RESET);
}

void connection::check_alive() noexcept {
    if (state_ != state::greeting && !is_open(state_)) return;
    const ucs::time::nanoseconds now = ucs::time::now();
    if (state_ == state::greeting) note_silence_in_greeting(now);
    if (state_ == state::failed) return;
    const ucs::net::reply_state liveness = ucs::net::reply_state_of(writer.socket.fd(), now);
    if (!silence_.check(liveness.is_reply_due, liveness.last_heard, now)) return;
    ucs::log::diag(log, "{} does not answer any more", peer_name());
    fail_after_reading(UCS_ERR_ENDPOINT_TIMEOUT);
}

void connection::note_silence_in_greeting(ucs::time::nanoseconds now) {
    if (silent_checks_ == 0) silent_since_ = now;
    if (++silent_checks_ < max_silent_checks || now - silent_since_ < shortest_silence) return;
    ucs::log::warn(log, "{} accepts connections and does not answer the greeting", peer_name());
    fail(UCS_ERR_ENDPOINT_TIMEOUT);
}

void connection::on_tick(ucs::time::nanoseconds now) {
    if (now < due_) return;
    switch (state_) {
        case state::connecting:
            attempt_failed("connect()", ETIMEDOUT);
            break;
        case state::backing_off:
            if (move(event::retry)) start();
            break;
        case state::established:
            if (!has_users() && !close_denied_ && writer.empty() && move(event::propose_close)) {
                writer.send_control(wire::frame_kind::close_request);
                keep_as_unused();
            }
            break;
        default:
            break;
    }
}

// The peer may refuse to close, or never answer.
void connection::keep_as_unused() noexcept {
    if (!writer.socket.is_open() || has_ended(state_)) return;
    writer.socket.note_unread();
    owner_.unused().add(unused_, writer.socket.fd());
}

void connection::say_goodbye() {
    if (is_open(state_)) writer.send_control(wire::frame_kind::leave);
}

bool connection::is_removable() const noexcept {
    return !has_users() &&
           (state_ == state::idle || (state_ == state::failed && failure_reported_));
}

bool connection::needs_ticks() const noexcept {
    return state_ == state::connecting || state_ == state::backing_off ||
           (state_ == state::established && !has_users() && !close_denied_);
}

std::string connection::peer_name() const noexcept {
    if (connected_to_) return connected_to_->text();
    if (paths_.empty()) {
        try {
            return fmt::format("interface {:x}", key.interface_id);
        } catch (const std::bad_alloc&) {
            return "a peer";
        }
    }
    return socket_address(paths_[path_].to.ip, paths_[path_].to.port).text();
}

}  // namespace uct::tcp
