#include "uct/tcp/data/send_queue.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace uct::tcp {

namespace {

constexpr std::array<std::byte, 8> zeros{};

}  // namespace

void zcopy_message::compose(am_id id, std::span<const std::byte> header,
                            std::span<const iov> payload, std::size_t length,
                            completion* when_sent) noexcept {
    const wire::frame_header frame{static_cast<std::uint32_t>(length), id,
                                   wire::frame_kind::message, wire::frame_mark};
    std::memcpy(prefix.data(), &frame, sizeof frame);
    std::copy(header.begin(), header.end(), prefix.begin() + sizeof frame);
    first = 0;
    count = 1;
    done = when_sent;
    bytes = wire::frame_size(length);
    parts[0] = {prefix.data(), sizeof frame + header.size()};
    for (const iov& piece : payload) {
        if (piece.length > 0) parts[count++] = {piece.base, piece.length};
    }
    if (const std::size_t padding = bytes - sizeof frame - length; padding > 0) {
        parts[count++] = {const_cast<std::byte*>(zeros.data()), padding};
    }
}

bool send_queue::append(std::span<const std::byte> bytes) noexcept {
    if (buffer_ == nullptr) {
        buffer_ = pool_.take();
        if (buffer_ == nullptr) return false;
    }
    if (bytes.size() > pool_.buffer_size() - end_) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    std::copy(bytes.begin(), bytes.end(), buffer_.get() + end_);
    end_ += bytes.size();
    return true;
}

zcopy_message* send_queue::next_zcopy() noexcept {
    if (zcopy_ == nullptr) zcopy_.reset(new (std::nothrow) zcopy_message);
    return zcopy_.get();
}

std::span<iovec> send_queue::pieces() noexcept {
    std::size_t count = 0;
    if (begin_ != end_) pieces_[count++] = {buffer_.get() + begin_, end_ - begin_};
    if (zcopy_active_) {
        const auto rest =
            std::span(zcopy_->parts).subspan(zcopy_->first, zcopy_->count - zcopy_->first);
        std::copy(rest.begin(), rest.end(), pieces_.begin() + static_cast<std::ptrdiff_t>(count));
        count += rest.size();
    }
    return std::span(pieces_).first(count);
}

completion* send_queue::advance(std::size_t count) noexcept {
    sent_ += count;
    const std::size_t copied = std::min(count, end_ - begin_);
    begin_ += copied;
    count -= copied;
    if (begin_ == end_) drop_buffer();
    if (!zcopy_active_) return nullptr;

    zcopy_->bytes -= count;
    while (count > 0) {
        iovec& part = zcopy_->parts[zcopy_->first];
        const std::size_t step = std::min(count, part.iov_len);
        part.iov_base = static_cast<std::byte*>(part.iov_base) + step;
        part.iov_len -= step;
        count -= step;
        if (part.iov_len == 0) ++zcopy_->first;
    }
    if (zcopy_->bytes > 0) return nullptr;
    zcopy_active_ = false;
    zcopy_->kept.reset();
    return std::exchange(zcopy_->done, nullptr);
}

bool send_queue::keep_zcopy(completion*& completed) noexcept {
    completed = nullptr;
    if (!zcopy_active_) return true;
    zcopy_message& message = *zcopy_;
    std::unique_ptr<std::byte[]> kept(new (std::nothrow) std::byte[message.bytes]);
    if (kept == nullptr) return false;
    std::byte* end = kept.get();
    for (const iovec& part :
         std::span(message.parts).subspan(message.first, message.count - message.first)) {
        std::memcpy(end, part.iov_base, part.iov_len);
        end += part.iov_len;
    }
    message.parts[0] = {kept.get(), message.bytes};
    message.first = 0;
    message.count = 1;
    message.kept = std::move(kept);
    completed = std::exchange(message.done, nullptr);
    return true;
}

completion* send_queue::clear() noexcept {
    drop_buffer();
    if (!std::exchange(zcopy_active_, false)) return nullptr;
    return std::exchange(zcopy_->done, nullptr);
}

void send_queue::drop_buffer() noexcept {
    begin_ = end_ = 0;
    if (buffer_ != nullptr) pool_.give(std::move(buffer_));
    buffer_.reset();
}

}  // namespace uct::tcp
