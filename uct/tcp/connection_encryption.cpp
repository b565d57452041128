// Sending and receiving of connections that are encrypted (UCX_TCP_ENCRYPTION).
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "uct/tcp/connection.hpp"
#include "uct/tcp/iface.hpp"

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

void connection::begin_encryption(const ucs::security::key& session, bool connected) noexcept {
    if (!owner_.own().terms().encrypted) return;
    try {
        encrypted_ = std::make_unique<encrypted_streams>(session, connected);
    } catch (const std::bad_alloc&) {
        fail_for_memory("it cannot be encrypted");
    }
}

// Works like sendmsg(): returns the number of bytes sent, or -1 with errno. A byte counts as sent
// when the whole record that contains it has been sent. Until then encrypted_->out keeps the
// record, and the caller must pass the same bytes again.
ssize_t connection::write_encrypted(std::span<const iovec> pieces) noexcept {
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

// Sends a frame, and queues the rest that the socket did not take. Requires that the queue is
// empty.
ucs_status_t connection::send_encrypted(std::byte* frame, std::size_t length) {
    const iovec whole{frame, length};
    const ssize_t sent = write_encrypted({&whole, 1});
    if (sent == static_cast<ssize_t>(length)) return UCS_OK;
    if (sent < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
        return fail_sending(errno);
    }
    const std::size_t gone = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    return keep_rest(frame + gone, length - gone);
}

// Works like recvmsg(). Fails with EBADMSG if the received bytes are not what the peer sent.
ssize_t connection::read_encrypted(std::span<const iovec> into) noexcept {
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

void connection::on_broken_encryption() {
    owner_.rejected().error(log,
                            "the data from {} was changed in transit, or is not from the peer; "
                            "the connection is closed",
                            peer_name());
    fail(UCS_ERR_CONNECTION_RESET);
}

}  // namespace uct::tcp
