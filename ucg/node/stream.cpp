#include "ucg/node/stream.hpp"

#include <algorithm>
#include <cstring>

namespace ucg::node {

std::size_t stream_out::room() noexcept {
    if (written_ - read_ + sizeof(frame) > size_ || left_ != 0) {
        const std::uint64_t found = look(shared_->read);
        broken_ |= found < read_ || found > told_ || found % sizeof(frame) != 0;
        if (!broken_) read_ = found;
    }
    return broken_ ? 0 : size_ - (written_ - read_);
}

void stream_out::begin(const frame& head) noexcept {
    std::memcpy(content_ + written_ % size_, &head, sizeof head);
    written_ += sizeof head;
    begun_ = written_;
    const bool has_bytes = head.kind == static_cast<std::uint32_t>(frame_kind::message);
    left_ = has_bytes ? round_up(head.bytes, sizeof(frame)) : 0;
}

std::size_t stream_out::add(const void* message, std::size_t bytes, std::size_t done) noexcept {
    const std::size_t before = done;
    while (done < bytes) {
        const std::uint64_t at = written_ % size_;
        const std::size_t some = std::min({bytes - done, room(), std::size_t{size_ - at}});
        if (some == 0) return done - before;
        if (message != nullptr)
            std::memcpy(content_ + at, static_cast<const std::byte*>(message) + done, some);
        written_ += some;
        left_ -= some;
        done += some;
    }
    // Room comes in whole frames, so there is room for the padding.
    written_ += left_;
    left_ = 0;
    return done - before;
}

void stream_out::disown() noexcept {
    disowned_end_ = written_ + left_;
    tell(shared_->disowned, begun_);
}

bool stream_out::can_disown() noexcept {
    if (read_ < disowned_end_) {
        const std::uint64_t found = look(shared_->read);
        broken_ |= found < read_ || found > told_ || found % sizeof(frame) != 0;
        if (!broken_) read_ = found;
    }
    return !broken_ && read_ >= disowned_end_;
}

bool stream_out::publish() noexcept {
    if (told_ == written_) return false;
    tell(shared_->written, told_ = written_);
    return true;
}

std::size_t stream_in::ready() noexcept {
    if (read_ == written_) {
        const std::uint64_t found = node::look(shared_->written);
        // The sender may fill only the room that it was given back.
        broken_ |= found < written_ || found - told_ > size_ || found % sizeof(frame) != 0;
        if (!broken_) written_ = found;
    }
    return broken_ ? 0 : written_ - read_;
}

frame stream_in::head() noexcept {
    frame found;
    std::memcpy(&found, content_ + read_ % size_, sizeof found);
    read_ += sizeof found;
    begun_ = read_;
    return found;
}

stream_in::piece stream_in::look(std::uint64_t most) noexcept {
    const std::uint64_t at = read_ % size_;
    return {content_ + at, std::min({most, std::uint64_t{ready()}, size_ - at})};
}

bool stream_in::publish() noexcept {
    if (told_ == read_) return false;
    tell(shared_->read, told_ = read_);
    return true;
}

}  // namespace ucg::node
