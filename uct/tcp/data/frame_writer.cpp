#include "uct/tcp/data/frame_writer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "ucs/type/allocated.hpp"
#include "uct/tcp/iface.hpp"

namespace uct::tcp {

namespace {

constexpr int send_flags = MSG_NOSIGNAL | MSG_DONTWAIT;

std::array<std::byte, wire::frame_header_size> control_frame(wire::frame_kind kind) {
    const wire::frame_header header{0, 0, kind, wire::frame_mark};
    return std::bit_cast<std::array<std::byte, sizeof header>>(header);
}

}  // namespace

frame_writer::frame_writer(iface& owner, connection& link) noexcept
    : owner_(owner), link_(link), tx_(owner.pool()) {}

ucs_status_t frame_writer::send_frame(am_id id, std::byte* frame, std::size_t length) {
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
        return tx_.append({frame, total}) ? UCS_OK : fail_for_memory(link_, "a message is lost");
    }
    ssize_t sent;
    if (socket.is_encrypted()) [[unlikely]] {
        sent = write_encrypted({frame, total});
    } else {
        sent = ::send(socket.fd(), frame, total, send_flags);
    }
    if (sent == static_cast<ssize_t>(total)) return UCS_OK;
    if (sent < 0 && !would_block(errno)) return fail_sending(errno);
    const std::size_t gone = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    if (!tx_.append({frame + gone, total - gone}))
        return fail_for_memory(link_, "the rest of a message could not be kept");
    watch(EPOLLIN | EPOLLOUT);
    return UCS_OK;
}

ssize_t frame_writer::write_encrypted(std::span<std::byte> frame) noexcept {
    const iovec whole{frame.data(), frame.size()};
    return socket.write_encrypted({&whole, 1});
}

ssize_t frame_writer::write_some() noexcept {
    const std::span<iovec> pieces = tx_.pieces();
    if (socket.is_encrypted()) return socket.write_encrypted(pieces);
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return ::sendmsg(socket.fd(), &message, send_flags);
}

ucs_status_t frame_writer::send_zcopy(ep& user, am_id id, std::span<const std::byte> header,
                                      std::span<const iov> payload, completion* done) {
    zcopy_message* const next = tx_.next_zcopy();
    if (next == nullptr) return fail_for_memory(link_, "a message is lost");
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

unsigned frame_writer::send_queued() {
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
            fail_for_memory(link_, "a control frame could not be queued");
        }
    }
    if (tx_.empty() && !has_ended(link_.current_state())) watch(EPOLLIN);
    const unsigned events = finish_flushes(tx_.sent());
    if (ended == nullptr) return events;
    ended->finish(UCS_OK);
    return events + 1;
}

unsigned frame_writer::finish_flushes(std::uint64_t sent) {
    unsigned ended = 0;
    // Flushes end in the order in which they wait.
    for (; !flushes_.empty() && flushes_.front().until <= sent; ++ended) {
        completion* done = flushes_.front().done;
        flushes_.erase(flushes_.begin());
        done->finish(UCS_OK);
    }
    return ended;
}

ucs_status_t frame_writer::flush(ep& user, completion* done) {
    if (link_.current_state() == state::failed) return link_.failure();
    if (tx_.empty() && link_.current_state() != state::draining) return UCS_OK;
    if (done == nullptr) return UCS_INPROGRESS;
    const bool has_memory = ucs::allocated([&] {
        flushes_.push_back({tx_.queued(), done, &user});
    });
    return has_memory ? UCS_INPROGRESS : UCS_ERR_NO_MEMORY;
}

void frame_writer::send_control(wire::frame_kind kind) {
    const auto frame = control_frame(kind);
    if (!tx_.has_room(frame.size())) {
        queued_control_ = kind;
        return;
    }
    const bool alone = tx_.empty();
    if (!tx_.append(frame)) {
        fail_for_memory(link_, "a control frame could not be queued");
        return;
    }
    if (alone) send_queued();
    if (!tx_.empty() && !has_ended(link_.current_state())) watch(EPOLLIN | EPOLLOUT);
}

void frame_writer::watch(std::uint32_t events) {
    if (events == socket.watched) return;
    owner_.watch(socket.fd(), socket.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, events, link_);
    socket.watched = events;
}

void frame_writer::end_operations_of(const ep& user) {
    completion* sending = nullptr;
    if (zcopy_user_ == &user) {
        zcopy_user_ = nullptr;
        if (!tx_.keep_zcopy(sending)) {
            // A part of the message has been sent, so the next bytes would not be a frame.
            sending = tx_.clear();
            fail_for_memory(link_, "the rest of a message could not be kept");
        }
    }
    if (sending != nullptr)
        sending->finish(has_ended(link_.current_state()) ? link_.failure() : UCS_OK);
    const auto is_of_user = [&user](const waiting_flush& flush) { return flush.user == &user; };
    for (auto it = std::find_if(flushes_.begin(), flushes_.end(), is_of_user); it != flushes_.end();
         it = std::find_if(flushes_.begin(), flushes_.end(), is_of_user)) {
        completion* done = it->done;
        flushes_.erase(it);
        done->finish(has_ended(link_.current_state()) ? link_.failure() : UCS_ERR_CANCELED);
    }
}

void frame_writer::end_operations(ucs_status_t status) {
    completion* sending = tx_.clear();
    std::vector<waiting_flush> flushes;
    flushes.swap(flushes_);
    if (sending != nullptr) sending->finish(status);
    for (const waiting_flush& flush : flushes)
        flush.done->finish(status);
}

std::uint64_t frame_writer::drop_queued() noexcept {
    const std::uint64_t queued = tx_.queued();
    static_cast<void>(tx_.clear());
    return queued;
}

// Returns UCS_ERR_NO_RESOURCE; the failure itself is reported later.
ucs_status_t frame_writer::fail_sending(int error) {
    ucs::log::diag(log, "send() to {}: {}", link_.peer_name(), error_text(error));
    link_.fail_after_reading(status_of_loss(error));
    return UCS_ERR_NO_RESOURCE;
}

}  // namespace uct::tcp
