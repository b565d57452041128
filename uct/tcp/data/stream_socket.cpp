#include "uct/tcp/data/stream_socket.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "ucs/net/reply_state.hpp"
#include "uct/tcp/data/send_queue.hpp"

namespace uct::tcp {

namespace {

// Removes the first `count` bytes from `pieces`.
std::span<iovec> drop_front(std::span<iovec> pieces, std::size_t count) noexcept {
    while (!pieces.empty() && count >= pieces[0].iov_len) {
        count -= pieces[0].iov_len;
        pieces = pieces.subspan(1);
    }
    if (!pieces.empty()) {
        pieces[0].iov_base = static_cast<std::byte*>(pieces[0].iov_base) + count;
        pieces[0].iov_len -= count;
    }
    return pieces;
}

}  // namespace

void stream_socket::close() noexcept {
    watched = 0;
    was_readable_ = false;
    fd_.reset();
    encrypted_.reset();
}

void stream_socket::encrypt(const ucs::security::key& session, bool connected) {
    encrypted_ = std::make_unique<encrypted_streams>(session, connected);
}

ssize_t stream_socket::write_encrypted(std::span<const iovec> pieces) noexcept {
    encrypting_stream& out = encrypted_->out;
    std::array<iovec, send_queue::max_pieces> copy;
    std::span<iovec> rest(copy.begin(), std::copy(pieces.begin(), pieces.end(), copy.begin()));
    ssize_t taken = 0;
    while (!rest.empty()) {
        if (!out.has_record()) out.encrypt(rest);
        const std::span<const std::byte> ready = out.ready();
        const ssize_t sent =
            ::send(fd_.get(), ready.data(), ready.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return taken > 0 ? taken : -1;
        out.sent(static_cast<std::size_t>(sent));
        if (!out.ready().empty()) {
            errno = EAGAIN;
            return taken > 0 ? taken : -1;
        }
        const std::size_t plain = out.finish_record();
        taken += static_cast<ssize_t>(plain);
        rest = drop_front(rest, plain);
    }
    return taken;
}

ssize_t stream_socket::read_encrypted(std::span<const iovec> into) noexcept {
    decrypting_stream& in = encrypted_->in;
    while (true) {
        const decrypting_stream::result read = in.read(into);
        if (read.status == decrypting_stream::outcome::read)
            return static_cast<ssize_t>(read.count);
        if (read.status == decrypting_stream::outcome::broken) {
            errno = EBADMSG;
            return -1;
        }
        const std::span<std::byte> space = in.space();
        const ssize_t got = ::recv(fd_.get(), space.data(), space.size(), MSG_DONTWAIT);
        if (got <= 0) return got;
        in.take(static_cast<std::size_t>(got));
    }
}

void stream_socket::drop_unread(unsigned reads) noexcept {
    if (!fd_) return;
    std::array<std::byte, 16384> room;
    for (; reads > 0; --reads) {
        if (::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT | MSG_TRUNC) <= 0) return;
    }
}

bool stream_socket::has_received() const noexcept {
    int unread = 0;
    return was_readable_ || (::ioctl(fd_.get(), FIONREAD, &unread) == 0 && unread > 0);
}

std::uint64_t stream_socket::received() const noexcept {
    return 1 + ucs::net::received_bytes(fd_.get());
}

}  // namespace uct::tcp
