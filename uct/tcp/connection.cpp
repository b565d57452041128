#include "uct/tcp/connection.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <new>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/net/received_bytes.hpp"
#include "ucs/net/reply_state.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

// After this time without endpoints, a side proposes to close the connection.
constexpr ucs::time::nanoseconds unused_before_closing = 1'000'000'000;

// Limits the reads of what the peer sent before a connection that failed in sending ends, and of
// what is dropped when the interface closes.
constexpr unsigned last_reads = 1024;

// A peer that has accepted the connection and does not answer the greeting is given up after so
// many checks and this time. The kernel of the peer's host answers keep-alive probes, so they
// cannot distinguish a busy peer from another process that has its port. By default this takes
// three keep-alive intervals, 60 s, as with posix and with the clients of a listener.
constexpr unsigned max_silent_checks = 12;
constexpr ucs::time::nanoseconds shortest_silence = 20 * ucs::time::second;

}  // namespace

connection::connection(iface& owner, const peer_key& peer)
    : owner_(owner),
      peer_(peer),
      rx_(owner.pool(), owner.handlers(), owner.unfinished(), *this),
      tx_(owner.pool()),
      unused_(*this) {}

connection::~connection() {
    owner_.forget(*this);
    close_socket();
    end_operations(UCS_ERR_CANCELED);
}

// All operations are removed before the first completion is called.
void connection::end_operations(ucs_status_t status) {
    completion* sending = tx_.clear();
    std::vector<waiting_flush> flushes;
    flushes.swap(flushes_);
    if (sending != nullptr) sending->finish(status);
    for (const waiting_flush& flush : flushes)
        flush.done->finish(status);
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
    end_operations_of(user);
    if (!users_.empty()) return;
    due_ = ucs::time::now() + unused_before_closing;
    close_denied_ = false;
    // The peer may never answer the greeting, so the connection counts as unused at once. Otherwise
    // it first proposes to close, unless descriptors are scarce.
    if (state_ == state::greeting || ucs::sys::are_descriptors_scarce()) keep_as_unused();
    owner_.attend(*this);
}

void connection::end_operations_of(const ep& user) {
    completion* sending = nullptr;
    if (zcopy_user_ == &user) {
        zcopy_user_ = nullptr;
        if (!tx_.keep_zcopy(sending)) {
            // A part of the message has been sent, so the next bytes would not be a frame.
            sending = tx_.clear();
            fail_for_memory("the rest of a message could not be kept");
        }
    }
    if (sending != nullptr) sending->finish(has_ended() ? failure_ : UCS_OK);
    const auto is_of_user = [&user](const waiting_flush& flush) { return flush.user == &user; };
    for (auto it = std::find_if(flushes_.begin(), flushes_.end(), is_of_user); it != flushes_.end();
         it = std::find_if(flushes_.begin(), flushes_.end(), is_of_user)) {
        completion* done = it->done;
        flushes_.erase(it);
        done->finish(has_ended() ? failure_ : UCS_ERR_CANCELED);
    }
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
    if (has_ended()) return;
    if (state_ != state::established && state_ != state::parting) return fail(status);
    move(event::send_failed);
    failure_ = status;
    owner_.attend(*this);
}

// Returns UCS_ERR_NO_RESOURCE; the failure itself is reported later.
ucs_status_t connection::fail_sending(int error) {
    ucs::log::diag(log, "send() to {}: {}", peer_name(), error_text(error));
    fail_after_reading(status_of_loss(error));
    return UCS_ERR_NO_RESOURCE;
}

ucs_status_t connection::fail_for_memory(const char* operation) {
    ucs::log::error(log, "the connection to {} is closed, out of memory: {}", peer_name(),
                    operation);
    fail(UCS_ERR_NO_MEMORY);
    return failure_;
}

void connection::drop_unfinished_frame() noexcept {
    if (!has_ended()) {
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

ucs_status_t connection::flush(ep& user, completion* done) {
    if (state_ == state::failed) return failure_;
    if (tx_.empty() && state_ != state::draining) return UCS_OK;
    if (done == nullptr) return UCS_INPROGRESS;
    try {
        flushes_.push_back({tx_.queued(), done, &user});
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
    return UCS_INPROGRESS;
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
    if ((epoll_events & EPOLLOUT) != 0) events += send_queued();
    if ((epoll_events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !has_ended()) {
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
    end_operations(failure_);
    return 1;
}

void connection::read_what_arrived() {
    for (unsigned reads = 0; reads < last_reads; ++reads) {
        const std::span<iovec> space = rx_.space();
        if (space.empty()) break;
        const ssize_t got = encrypted_ != nullptr
                                ? read_encrypted(space)
                                : ::readv(fd_.get(), space.data(), static_cast<int>(space.size()));
        unsigned events = 0;
        owner_.note_reading(*this);
        if (got <= 0 || rx_.consume(static_cast<std::size_t>(got), events) != UCS_OK) break;
    }
    if ((rx_.take_control() >> static_cast<unsigned>(wire::frame_kind::leave) & 1U) != 0) {
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
    } else if (has_users() || !tx_.empty()) {
        send_control(wire::frame_kind::close_denied);
    } else {
        send_control(wire::frame_kind::close_granted);
        if (state_ == state::established) close_by_agreement();
    }
}

// Only control frames can be queued: a connection proposes to close when it has no messages, and
// accepts none until the peer has denied. So everything that a flush waits for has been sent.
void connection::close_by_agreement() {
    if (!move(event::parted)) return;
    const std::uint64_t queued = tx_.queued();
    static_cast<void>(tx_.clear());
    close_socket();
    owner_.attend(*this);
    finish_flushes(queued);
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
    if (state_ != state::greeting && state_ != state::established && state_ != state::parting)
        return;
    const ucs::time::nanoseconds now = ucs::time::now();
    if (state_ == state::greeting) note_silence_in_greeting(now);
    if (state_ == state::failed) return;
    const ucs::net::reply_state liveness = ucs::net::reply_state_of(fd_.get(), now);
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
            if (!has_users() && !close_denied_ && tx_.empty() && move(event::propose_close)) {
                send_control(wire::frame_kind::close_request);
                keep_as_unused();
            }
            break;
        default:
            break;
    }
}

// The peer may refuse to close, or never answer.
void connection::keep_as_unused() noexcept {
    if (!fd_ || has_ended()) return;
    was_readable_ = false;
    owner_.unused().add(unused_, fd_.get());
}

std::array<std::byte, wire::frame_header_size> connection::control_frame(wire::frame_kind kind) {
    const wire::frame_header header{0, 0, kind, wire::frame_mark};
    return std::bit_cast<std::array<std::byte, sizeof header>>(header);
}

void connection::send_control(wire::frame_kind kind) {
    const auto frame = control_frame(kind);
    if (!tx_.has_room(frame.size())) {
        queued_control_ = kind;
        return;
    }
    const bool alone = tx_.empty();
    if (!tx_.append(frame)) {
        fail_for_memory("a control frame could not be queued");
        return;
    }
    if (alone) send_queued();
    if (!tx_.empty() && !has_ended()) watch(EPOLLIN | EPOLLOUT);
}

void connection::say_goodbye() {
    if (state_ == state::established || state_ == state::parting) {
        send_control(wire::frame_kind::leave);
    }
}

void connection::drop_unread() noexcept {
    if (!fd_) return;
    std::array<std::byte, 16384> room;
    for (unsigned reads = 0; reads < last_reads; ++reads) {
        if (::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT | MSG_TRUNC) <= 0) return;
    }
}

bool connection::has_received() const noexcept {
    int unread = 0;
    return was_readable_ || (::ioctl(fd_.get(), FIONREAD, &unread) == 0 && unread > 0);
}

std::uint64_t connection::received() const noexcept {
    return 1 + ucs::net::received_bytes(fd_.get());
}

bool connection::unsent() const noexcept {
    return (state_ == state::established || state_ == state::parting) && !tx_.empty();
}

bool connection::is_removable() const noexcept {
    return !has_users() &&
           (state_ == state::idle || (state_ == state::failed && failure_reported_));
}

bool connection::needs_ticks() const noexcept {
    return state_ == state::connecting || state_ == state::backing_off ||
           (state_ == state::established && !has_users() && !close_denied_);
}

void connection::watch(std::uint32_t events) {
    if (events == watched_) return;
    owner_.watch(fd_.get(), watched_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, events, *this);
    watched_ = events;
}

std::string connection::peer_name() const noexcept {
    if (connected_to_) return connected_to_->text();
    if (paths_.empty()) {
        try {
            return fmt::format("interface {:x}", peer_.interface_id);
        } catch (const std::bad_alloc&) {
            return "a peer";
        }
    }
    return socket_address(paths_[path_].to.ip, paths_[path_].to.port).text();
}

}  // namespace uct::tcp
