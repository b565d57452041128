#include "ucs/net/record_stream.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ucs::net {
namespace {

bool would_wait() noexcept {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

record_socket::record_socket(unique_fd socket) noexcept
    : socket_(std::move(socket)), process_(::getpid()) {}

void record_socket::close() noexcept {
    const unique_fd socket = std::move(socket_);
    if (!socket || process_ != ::getpid()) return;
    ::shutdown(socket.get(), SHUT_WR);
    // Unread data in the receive buffer would make the kernel discard data that is still being
    // sent. Reads at most what a socket's buffer holds, so that a peer that keeps sending does not
    // block this process.
    std::array<std::byte, 65536> none;
    for (int i = 0; i < 256; ++i)
        if (::recv(socket.get(), none.data(), none.size(), MSG_DONTWAIT) <= 0) break;
}

void record_socket::put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
    assert(!is_sending() && head.size() <= longest_head);
    std::copy(head.begin(), head.end(), head_.begin());
    head_size_ = head.size();
    body_ = body;
    sent_ = 0;
}

ucs_status_t record_socket::flush() noexcept {
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

bool record_socket::forget_body() noexcept {
    const bool is_complete = !is_sending();
    body_ = {};
    sent_ = head_size_;
    return is_complete;
}

ucs_status_t record_socket::read_rest(std::span<std::byte> into, std::size_t& count) noexcept {
    while (count < into.size()) {
        const ssize_t got =
            ::recv(socket_.get(), into.data() + count, into.size() - count, MSG_DONTWAIT);
        if (got < 0) return would_wait() ? UCS_INPROGRESS : UCS_ERR_CONNECTION_RESET;
        if (got == 0) {
            errno = 0;
            return UCS_ERR_CONNECTION_RESET;
        }
        count += static_cast<std::size_t>(got);
        received_ += static_cast<std::uint64_t>(got);
    }
    return UCS_OK;
}

}  // namespace ucs::net
