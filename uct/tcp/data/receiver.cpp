#include "uct/tcp/data/receiver.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace uct::tcp {

namespace {

// The buffer of a long frame grows by this factor when received bytes need it. So the memory
// follows what the peer has sent, not the length that it has announced.
constexpr std::size_t growth = 4;

}  // namespace

std::span<iovec> receiver::space() {
    if (buffer_ == nullptr) {
        buffer_ = pool_.take();
        if (buffer_ == nullptr) return {};
        capacity_ = pool_.buffer_size();
    }
    if (landing_) return landing_space();
    pieces_[0] = {buffer_.get() + end_, capacity_ - end_};
    return std::span(pieces_).first(1);
}

std::span<iovec> receiver::landing_space() {
    const am_handler& handler = handlers_[landing_id_];
    const std::size_t missing = payload_length_ - landed_;
    auto* place =
        dropping_
            ? nullptr
            : static_cast<std::byte*>(handler.locate(handler.arg, header_.data(), payload_length_));
    if (place == nullptr) {
        // The rest is received into the buffer and dropped.
        dropping_ = true;
        pieces_[0] = {buffer_.get(), std::min(missing, capacity_)};
        return std::span(pieces_).first(1);
    }
    pieces_[0] = {place + landed_, missing};
    // The bytes after the message start so that the next frame after the padding is aligned again.
    begin_ = end_ = (8 - padding_) % 8;
    pieces_[1] = {buffer_.get() + begin_, std::min(landing_tail, capacity_ - begin_)};
    return std::span(pieces_);
}

ucs_status_t receiver::consume(std::size_t count, unsigned& events) {
    if (!landing_) {
        end_ += count;
        return parse(events);
    }
    const std::size_t landed = std::min(count, payload_length_ - landed_);
    end_ = begin_ + (count - landed);
    land(landed, events);
    return landing_ ? UCS_OK : parse(events);
}

void receiver::land(std::size_t count, unsigned& events) {
    landed_ += count;
    if (landed_ < payload_length_) return;
    landing_ = false;
    if (dropping_) {
        begin_ = end_ = (8 - padding_) % 8;
        return;
    }
    const am_handler& handler = handlers_[landing_id_];
    ++events;
    handler.landed(handler.arg, header_.data(), payload_length_);
}

ucs_status_t receiver::parse(unsigned& events) {
    std::size_t wanted = wire::frame_header_size;
    while (skip_padding() && available() >= wire::frame_header_size) {
        const auto frame = wire::parse_frame(std::span<const std::byte, wire::frame_header_size>(
            buffer_.get() + begin_, wire::frame_header_size));
        if (!frame) return UCS_ERR_INVALID_PARAM;
        wanted = wire::frame_size(frame->length);
        if (available() < wanted) {
            if (try_to_land(*frame)) return UCS_OK;
            break;
        }
        deliver(*frame, events);
        begin_ += wanted;
        asked_ = false;
        wanted = wire::frame_header_size;
    }
    return make_room(wanted);
}

bool receiver::skip_padding() noexcept {
    const std::size_t skipped = std::min(padding_, available());
    begin_ += skipped;
    padding_ -= skipped;
    return padding_ == 0;
}

void receiver::deliver(const wire::frame_header& frame, unsigned& events) {
    if (frame.kind != wire::frame_kind::message) {
        control_ |= 1U << static_cast<unsigned>(frame.kind);
        return;
    }
    ++events;
    const am_handler& handler = handlers_[frame.id];
    handler.deliver(handler.arg, buffer_.get() + begin_ + wire::frame_header_size, frame.length);
}

bool receiver::try_to_land(const wire::frame_header& frame) {
    const am_handler& handler = handlers_[frame.id];
    const std::size_t header = handler.landing_header;
    if (asked_ || handler.locate == nullptr || frame.kind != wire::frame_kind::message)
        return false;
    if (header > max_landing_header || frame.length <= header) return false;
    const std::size_t present = available() - wire::frame_header_size;
    if (present < header || present >= frame.length)
        return false;  // in the latter case only padding is missing

    asked_ = true;
    const std::byte* body = buffer_.get() + begin_ + wire::frame_header_size;
    const std::size_t payload = frame.length - header;
    void* place = handler.locate(handler.arg, body, payload);
    if (place == nullptr) return false;

    std::memcpy(header_.data(), body, header);
    std::memcpy(place, body + header, present - header);
    landing_ = true;
    dropping_ = false;
    asked_ = false;
    landing_id_ = frame.id;
    payload_length_ = payload;
    landed_ = present - header;
    padding_ = wire::frame_size(frame.length) - wire::frame_header_size - frame.length;
    begin_ = end_ = 0;
    return true;
}

ucs_status_t receiver::make_room(std::size_t frame_bytes) noexcept {
    if (available() == 0 && padding_ == 0) {
        begin_ = end_ = 0;
        if (capacity_ > pool_.buffer_size()) drop_buffer();
        return UCS_OK;
    }
    if (begin_ + frame_bytes <= capacity_) return UCS_OK;
    if (begin_ > 0) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, available());
        end_ = available();
        begin_ = 0;
    }
    if (frame_bytes <= capacity_ || end_ <= capacity_ / 2) return UCS_OK;
    return grow_buffer(std::min(frame_bytes, growth * capacity_));
}

ucs_status_t receiver::grow_buffer(std::size_t bytes) noexcept {
    if (!limit_.grow(owner_, bytes)) return UCS_ERR_EXCEEDS_LIMIT;
    buffer larger(new (std::nothrow) std::byte[bytes]);
    if (larger == nullptr) {
        if (capacity_ == pool_.buffer_size()) limit_.release(owner_);
        return UCS_ERR_NO_MEMORY;
    }
    std::memcpy(larger.get(), buffer_.get(), end_);
    if (capacity_ == pool_.buffer_size()) pool_.give(std::move(buffer_));
    buffer_ = std::move(larger);
    capacity_ = bytes;
    return UCS_OK;
}

void receiver::rest() noexcept {
    if (in_the_middle()) return;
    drop_buffer();
    begin_ = end_ = 0;
}

void receiver::reset() noexcept {
    drop_buffer();
    begin_ = end_ = padding_ = 0;
    control_ = 0;
    asked_ = landing_ = false;
}

void receiver::drop_buffer() noexcept {
    if (buffer_ == nullptr) return;
    if (capacity_ == pool_.buffer_size())
        pool_.give(std::move(buffer_));
    else
        limit_.release(owner_);
    buffer_.reset();
    capacity_ = 0;
}

}  // namespace uct::tcp
