#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "uct/tcp/connection.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

constexpr int send_flags = MSG_NOSIGNAL | MSG_DONTWAIT;

bool would_block(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS;
}

}  // namespace

ucs_status_t connection::send_frame(am_id id, std::byte* frame, std::size_t length) {
    const wire::frame_header header{static_cast<std::uint32_t>(length), id,
                                    wire::frame_kind::message, wire::frame_mark};
    const std::size_t total = wire::frame_size(length);
    std::memcpy(frame, &header, sizeof header);
    for (std::size_t i = wire::frame_header_size + length; i < total; ++i) {
        frame[i] = std::byte{0};
    }
    // can_send() excludes a zero-copy message.
    if (tx_.has_bytes()) {
        // The queue holds bytes, so its buffer exists.
        return tx_.append({frame, total}) ? UCS_OK : fail_for_memory("a message is lost");
    }
    if (encrypted_ != nullptr) [[unlikely]]
        return send_encrypted(frame, total);
    const ssize_t sent = ::send(fd_.get(), frame, total, send_flags);
    if (sent == static_cast<ssize_t>(total)) return UCS_OK;
    if (sent < 0 && !would_block(errno)) return fail_sending(errno);
    const std::size_t gone = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    return keep_rest(frame + gone, total - gone);
}

ucs_status_t connection::keep_rest(const std::byte* from, std::size_t count) {
    if (!tx_.append({from, count})) {
        return fail_for_memory("the rest of a message could not be kept");
    }
    watch(EPOLLIN | EPOLLOUT);
    return UCS_OK;
}

ssize_t connection::write_some() noexcept {
    const std::span<iovec> pieces = tx_.pieces();
    if (encrypted_ != nullptr) return write_encrypted(pieces);
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return ::sendmsg(fd_.get(), &message, send_flags);
}

ucs_status_t connection::send_zcopy(ep& user, am_id id, std::span<const std::byte> header,
                                    std::span<const iov> payload, completion* done) {
    zcopy_message* const next = tx_.next_zcopy();
    if (next == nullptr) return fail_for_memory("a message is lost");
    zcopy_message& message = *next;
    message.compose(id, header, payload, header.size() + total_length(payload), nullptr);
    const bool alone = tx_.empty();
    tx_.start_zcopy();
    if (alone) {
        const ssize_t sent = write_some();
        if (sent < 0 && !would_block(errno)) {
            const int error = errno;
            static_cast<void>(tx_.clear());
            return fail_sending(error);
        }
        if (sent > 0) static_cast<void>(tx_.advance(static_cast<std::size_t>(sent)));
        if (tx_.empty()) return UCS_OK;
        watch(EPOLLIN | EPOLLOUT);
    }
    message.done = done;
    zcopy_user_ = &user;
    return UCS_INPROGRESS;
}

unsigned connection::send_queued() {
    completion* ended = nullptr;
    while (!tx_.empty()) {
        const std::size_t wanted = tx_.waiting();
        const ssize_t sent = write_some();
        if (sent < 0) {
            if (!would_block(errno)) fail_sending(errno);
            break;
        }
        // At most one message ends here. The control frame after it takes another iteration.
        if (completion* const done = tx_.advance(static_cast<std::size_t>(sent)); done != nullptr)
            ended = done;
        if (static_cast<std::size_t>(sent) < wanted) break;
        if (queued_control_ &&
            !tx_.append(control_frame(*std::exchange(queued_control_, std::nullopt)))) {
            fail_for_memory("a control frame could not be queued");
        }
    }
    if (tx_.empty() && !has_ended()) watch(EPOLLIN);
    const unsigned events = finish_flushes(tx_.sent());
    if (ended == nullptr) return events;
    ended->finish(UCS_OK);
    return events + 1;
}

unsigned connection::finish_flushes(std::uint64_t sent) {
    unsigned ended = 0;
    // Flushes end in the order in which they wait.
    for (; !flushes_.empty() && flushes_.front().until <= sent; ++ended) {
        completion* done = flushes_.front().done;
        flushes_.erase(flushes_.begin());
        done->finish(UCS_OK);
    }
    return ended;
}

// Received bytes stay in the kernel until there is memory for them.
unsigned connection::receive_later() {
    if (!std::exchange(waits_for_memory_, true)) {
        ucs::log::error(log, "out of memory: messages of {} have to wait", peer_name());
    }
    return 0;
}

// `status` comes from the receiver.
void connection::fail_receiving(ucs_status_t status) {
    switch (status) {
        case UCS_ERR_NO_MEMORY:
            fail_for_memory("a message could not be received");
            break;
        case UCS_ERR_EXCEEDS_LIMIT:
            drop_unfinished_frame();
            break;
        default:
            owner_.rejected().error(log, "{} sent an invalid frame; the connection is closed",
                                    peer_name());
            fail(UCS_ERR_CONNECTION_RESET);
    }
}

// Handles the result of a read of the socket. Inline, because receiving a message calls it once.
inline unsigned connection::take_received(ssize_t got) {
    unsigned events = 0;
    if (got > 0) [[likely]] {
        owner_.note_reading(*this);
        const ucs_status_t status = rx_.consume(static_cast<std::size_t>(got), events);
        if (status != UCS_OK) [[unlikely]] {
            fail_receiving(status);
            return events + 1;
        }
        if (const unsigned kinds = rx_.take_control(); kinds != 0) [[unlikely]] {
            on_control(kinds);
            ++events;
        }
        rx_.rest();
        return events + (events == 0 ? 1U : 0U);
    }
    if (got < 0 && would_block(errno)) {
        rx_.rest();
        return 0;
    }
    if (got < 0) {
        const int error = errno;
        if (error == EBADMSG) {
            on_broken_encryption();
            return 1;
        }
        ucs::log::diag(log, "recv() from {}: {}", peer_name(), error_text(error));
        fail(status_of_loss(error));
    } else {
        on_end_of_stream();
    }
    return 1;
}

unsigned connection::receive() {
    if (encrypted_ != nullptr) [[unlikely]]
        return receive_encrypted();
    const std::span<iovec> space = rx_.space();
    if (space.empty()) [[unlikely]]
        return receive_later();
    return take_received(space.size() == 1
                             ? ::recv(fd_.get(), space[0].iov_base, space[0].iov_len, MSG_DONTWAIT)
                             : ::readv(fd_.get(), space.data(), static_cast<int>(space.size())));
}

// Receives from an encrypted connection; see connection_encryption.cpp. Handles everything that one
// read of the socket brought, because no event of the socket would announce the rest.
unsigned connection::receive_encrypted() {
    unsigned events = 0;
    do {
        const std::span<iovec> space = rx_.space();
        if (space.empty()) {
            fail_for_memory("a message could not be received");
            return events + 1;
        }
        events += take_received(read_encrypted(space));
    } while (encrypted_ != nullptr && !has_ended() && encrypted_->in.has_ready());
    return events;
}

}  // namespace uct::tcp
