#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/base/log.hpp"
#include "uct/sm/posix/posix_iface.hpp"

namespace uct::posix {

namespace {
// Connections accepted per event of the socket, so that a flood of connections does not delay
// messages. Connections of other users are closed at once. They may keep the queue full, which
// senders do not treat as silence.
constexpr unsigned accepts_at_once = 64;
// Limit of the connections of this user's processes that have not proven the secret yet.
constexpr std::size_t most_connecting = 512;
}  // namespace

// Also false if a connection stays in the queue of the socket; then accepting pauses.
bool posix_iface::accept_some() {
    for (unsigned i = 0; i < accepts_at_once; ++i) {
        if (ucs::sys::has_too_many_pending_closes()) {
            listening_.pause();
            return false;
        }
        if (connecting_.size() >= most_connecting && !drop_silent()) {
            wait_for_silent();
            return false;
        }
        ucs::unique_fd socket = ucs::sys::accept_within_budget(listener_.get());
        if (!socket) {
            accept_failed(errno);
            return false;
        }
        admit(std::move(socket));
    }
    return true;
}

// Closes senders that have been silent for long, to make room. Returns false if there are none.
bool posix_iface::drop_silent() noexcept {
    return 0 < std::erase_if(connecting_, [this](const auto& each) {
               if (!each->is_silent()) return false;
               rejected().warn(posix_log, "pid {} has connected and is silent: it makes room",
                               each->peer().pid);
               events_.remove(each->socket());
               each->end(packet_kind::refused);
               return true;
           });
}

void posix_iface::wait_for_silent() noexcept {
    listening_.pause();
    if (std::exchange(accept_complained_, true)) return;
    ucs::log::warn(posix_log,
                   "{} connections of processes of this user have not introduced themselves yet, "
                   "the last one that of pid {}: peers that connect wait for up to a minute. If "
                   "that process is none of the job, end it",
                   connecting_.size(), connecting_.back()->peer().pid);
}

void posix_iface::accept_the_rest() {
    // The kernel refuses later senders, so the queue ends.
    static_cast<void>(::shutdown(listener_.get(), SHUT_RD));
    while (accept_some()) {
    }
}

void posix_iface::accept_failed(int error) {
    // The connection stays in the queue of the socket and is retried after a pause, so one line is
    // enough until the queue is empty.
    const bool empty = error == EAGAIN || error == EINVAL;
    if (empty) accept_complained_ = false;
    if (empty || error == EINTR || error == ECONNABORTED) return;
    if ((error == EMFILE || error == ENFILE) && drop_silent()) return;
    listening_.pause();
    if (std::exchange(accept_complained_, true)) return;
    ucs::log::warn(posix_log, "a connection cannot be accepted, peers must wait: {}",
                   std::strerror(error));
}

// Connections of other users are closed.
void posix_iface::admit(ucs::unique_fd socket) noexcept {
    const auto peer = peer_of(socket.get());
    if (!peer) return;
    if (peer->is_own_user_or_root()) {
        ucs::sys::allow_descriptors(socket.get());
        return begin(std::move(socket), *peer);
    }
    rejected().warn(posix_log,
                    "a connection from pid {} is refused: it belongs to user {}, and only user "
                    "{} and root are let in",
                    peer->pid, peer->uid, ::geteuid());
    send_plain_packet(socket.get(), packet_kind::refused);
    ucs::sys::close_in_background(std::move(socket));
}

void posix_iface::begin(ucs::unique_fd socket, const ucs::sys::peer_credentials& peer) noexcept {
    const bool has_memory = ucs::allocated([&] {
        connecting_.reserve(connecting_.size() + 1);
        connecting_.push_back(
            std::make_unique<incoming>(std::move(socket), peer, identity_, rejected()));
    });
    if (!has_memory) {
        ucs::log::error(posix_log, "a connection from pid {} is refused: out of memory", peer.pid);
        return send_plain_packet(socket.get(), packet_kind::refused);
    }
    incoming& from = *connecting_.back();
    if (events_.add(from.socket(), EPOLLIN | EPOLLRDHUP,
                    [this, &from](std::uint32_t) { on_socket_event(from); }) != UCS_OK) {
        from.end(packet_kind::refused);
        connecting_.pop_back();
        return;
    }
    on_socket_event(from);  // the challenge has usually arrived already
}

void posix_iface::on_socket_event(incoming& from) noexcept {
    const incoming::state before = from.now();
    if (!ucs::allocated([&] { from.on_socket_event(); })) {
        ucs::log::error(posix_log, "the connection from pid {} is cut off: out of memory",
                        from.peer().pid);
        from.end(packet_kind::refused);
    }
    if (from.now() == before || from.is_connecting()) return;
    if (from.now() == incoming::state::open) open_ring(from);
    if (from.now() == incoming::state::open) return;
    events_.remove(from.socket());
    if (before != incoming::state::open) {
        std::erase_if(connecting_, [&](const auto& each) { return each.get() == &from; });
        listening_.resume();
    } else {
        need_attention();  // progress drains and drops it
    }
}

void posix_iface::open_ring(incoming& from) noexcept {
    const auto found = std::find_if(connecting_.begin(), connecting_.end(),
                                    [&](const auto& each) { return each.get() == &from; });
    if (!ucs::allocated([&] { rings_.push_back(std::move(*found)); })) {
        ucs::log::error(posix_log, "a connection from pid {} is refused: out of memory",
                        from.peer().pid);
        return from.end(packet_kind::refused);
    }
    connecting_.erase(found);
    listening_.resume();
}

void posix_iface::refuse_sender(std::uint64_t reply_socket) noexcept {
    for (const auto& from : rings_) {
        if (from->now() != incoming::state::open || from->reply_socket() != reply_socket) continue;
        from->end(packet_kind::refused);
        events_.remove(from->socket());
        need_attention();  // progress drops it
    }
}

void posix_iface::remove(incoming& from) noexcept {
    events_.remove(from.socket());
    std::erase_if(rings_, [&](const auto& each) { return each.get() == &from; });
    first_ = 0;
}

}  // namespace uct::posix
