#include "ucg/oob/tcp/link.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "ucs/net/reply_state.hpp"
#include "ucs/net/socket.hpp"

namespace ucg::oob {
namespace {

// The kernel detects a host that vanished within half a minute.
constexpr ucs::net::liveness probing{.idle = 10, .interval = 5, .probes = 4};
constexpr ucs::time::nanoseconds check_interval = 8 * ucs::time::second;

bool would_wait() noexcept {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

tcp_link::tcp_link(ucs::unique_fd socket) noexcept
    : socket_(std::move(socket)), process_(::getpid()) {
    ucs::net::make_lively(socket_.get(), probing);
}

void tcp_link::close() noexcept {
    const ucs::unique_fd socket = std::move(socket_);
    if (!socket || process_ != ::getpid()) return;
    ::shutdown(socket.get(), SHUT_WR);
    // Unread data in the receive buffer would make the kernel discard data that is still being
    // sent. Reads at most what a socket's buffer holds, so that a peer that keeps sending does not
    // block this process.
    std::array<std::byte, 65536> none;
    for (int i = 0; i < 256; ++i)
        if (::recv(socket.get(), none.data(), none.size(), MSG_DONTWAIT) <= 0) break;
}

ucs::security::key_handshake::step tcp_link::advance(
    ucs::security::key_handshake& handshake) noexcept {
    return ucs::net::advance(handshake, fd());
}

bool tcp_link::is_silent() noexcept {
    const auto now = ucs::time::now();
    if (now < next_check_) return false;
    next_check_ = now + check_interval;
    const auto liveness = ucs::net::reply_state_of(socket_.get(), now);
    return silence_.check(liveness.is_reply_due, liveness.last_heard, now);
}

void tcp_link::put(wire::header head, std::span<const std::byte> body) noexcept {
    put(head, {}, body);
}

void tcp_link::put(wire::header head, std::span<const std::byte> start,
                   std::span<const std::byte> body) noexcept {
    assert(!is_sending() && start.size() <= wire::failure::max_bytes);
    head.content = start.size() + body.size();
    wire::pack(head, std::span(head_).first<wire::header::size>());
    std::copy(start.begin(), start.end(), head_.begin() + wire::header::size);
    head_size_ = wire::header::size + start.size();
    body_ = body;
    sent_ = 0;
}

void tcp_link::put(wire::header head, const wire::failure& failure) noexcept {
    assert(!is_sending());
    head.kind = wire::frame_kind::failure;
    head.content = wire::pack(failure, std::span(head_).subspan<wire::header::size>());
    wire::pack(head, std::span(head_).first<wire::header::size>());
    head_size_ = wire::header::size + static_cast<std::size_t>(head.content);
    body_ = {};
    sent_ = 0;
}

ucs_status_t tcp_link::flush() noexcept {
    while (is_sending()) {
        const std::size_t head_sent = std::min(sent_, head_size_);
        const std::size_t body_sent = sent_ - head_sent;
        iovec pieces[] = {
            {head_.data() + head_sent, head_size_ - head_sent},
            {const_cast<std::byte*>(body_.data()) + body_sent, body_.size() - body_sent}};
        msghdr message{};
        message.msg_iov = pieces;
        message.msg_iovlen = 2;
        const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) return would_wait() ? UCS_INPROGRESS : UCS_ERR_CONNECTION_RESET;
        sent_ += static_cast<std::size_t>(count);
    }
    return UCS_OK;
}

bool tcp_link::forget_body() noexcept {
    const bool is_complete = !is_sending();
    body_ = {};
    sent_ = head_size_;
    return is_complete;
}

ucs_status_t tcp_link::read_some(std::span<std::byte> into, std::size_t& count) noexcept {
    while (count < into.size()) {
        const ssize_t got =
            ::recv(socket_.get(), into.data() + count, into.size() - count, MSG_DONTWAIT);
        if (got < 0) return would_wait() ? UCS_INPROGRESS : UCS_ERR_CONNECTION_RESET;
        if (got == 0) return UCS_ERR_CONNECTION_RESET;
        count += static_cast<std::size_t>(got);
    }
    return UCS_OK;
}

ucs_status_t tcp_link::read_header() noexcept {
    assert(!in_frame_);
    const ucs_status_t status = read_some(in_head_, in_count_);
    if (status != UCS_OK) return status;
    const auto parsed = wire::parse(in_head_);
    if (!parsed) return UCS_ERR_INVALID_PARAM;
    header_ = *parsed;
    in_frame_ = true;
    in_count_ = 0;
    return UCS_OK;
}

ucs_status_t tcp_link::read_body(std::span<std::byte> into) noexcept {
    assert(in_frame_ && into.size() == header_.content);
    const ucs_status_t status = read_some(into, in_count_);
    if (status != UCS_OK) return status;
    in_frame_ = false;
    in_count_ = 0;
    return UCS_OK;
}

ucs_status_t tcp_link::read_failure(wire::failure& into, rank_t ranks) {
    // wire::parse() has checked the length.
    const auto bytes = std::span(in_failure_).first(static_cast<std::size_t>(header_.content));
    const ucs_status_t status = read_body(bytes);
    if (status != UCS_OK) return status;
    auto parsed = wire::parse_failure(bytes, ranks);
    if (!parsed) return UCS_ERR_INVALID_PARAM;
    into = std::move(*parsed);
    return UCS_OK;
}

}  // namespace ucg::oob
