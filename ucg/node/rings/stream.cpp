#include "ucg/node/rings/stream.hpp"

#include <algorithm>
#include <cstring>

namespace ucg::node {

std::size_t stream_out::room() noexcept {
    if (written_ - read_ + sizeof(frame) > size_ || left_ != 0) {
        const std::uint64_t found = load_acquire(shared_->read);
        broken_ |= found < read_ || found > published_ || found % sizeof(frame) != 0;
        if (!broken_) read_ = found;
    }
    return broken_ ? 0 : size_ - (written_ - read_);
}

void stream_out::begin(const frame& head) noexcept {
    std::memcpy(content_ + written_ % size_, &head, sizeof head);
    written_ += sizeof head;
    content_begin_ = written_;
    const bool has_bytes = head.kind == static_cast<std::uint32_t>(frame_kind::message);
    left_ = has_bytes ? round_up(head.bytes, sizeof(frame)) : 0;
}

std::size_t stream_out::add(const void* message, std::size_t bytes, std::size_t done) noexcept {
    const std::size_t before = done;
    while (done < bytes) {
        const std::uint64_t offset = written_ % size_;
        const std::size_t copied = std::min({bytes - done, room(), std::size_t{size_ - offset}});
        if (copied == 0) return done - before;
        if (message != nullptr)
            std::memcpy(content_ + offset, static_cast<const std::byte*>(message) + done, copied);
        written_ += copied;
        left_ -= copied;
        done += copied;
    }
    // Room comes in whole frames, so there is room for the padding.
    written_ += left_;
    left_ = 0;
    return done - before;
}

void stream_out::disown() noexcept {
    disowned_end_ = written_ + left_;
    store_release(shared_->disowned, content_begin_);
}

bool stream_out::can_disown() noexcept {
    if (read_ < disowned_end_) {
        const std::uint64_t found = load_acquire(shared_->read);
        broken_ |= found < read_ || found > published_ || found % sizeof(frame) != 0;
        if (!broken_) read_ = found;
    }
    return !broken_ && read_ >= disowned_end_;
}

bool stream_out::publish() noexcept {
    if (published_ == written_) return false;
    store_release(shared_->written, published_ = written_);
    return true;
}

std::size_t stream_in::ready() noexcept {
    if (read_ == written_) {
        const std::uint64_t found = node::load_acquire(shared_->written);
        // The sender may fill only room that was given back to it.
        broken_ |= found < written_ || found - published_ > size_ || found % sizeof(frame) != 0;
        if (!broken_) written_ = found;
    }
    return broken_ ? 0 : written_ - read_;
}

frame stream_in::head() noexcept {
    frame found;
    std::memcpy(&found, content_ + read_ % size_, sizeof found);
    read_ += sizeof found;
    content_begin_ = read_;
    return found;
}

stream_in::piece stream_in::next(std::uint64_t most) noexcept {
    const std::uint64_t offset = read_ % size_;
    return {content_ + offset, std::min({most, std::uint64_t{ready()}, size_ - offset})};
}

bool stream_in::publish() noexcept {
    if (published_ == read_) return false;
    store_release(shared_->read, published_ = read_);
    return true;
}

}  // namespace ucg::node
