// Parser that splits the byte stream of a connection into frames.
#pragma once

#include <sys/uio.h>

#include <array>
#include <functional>
#include <span>

#include "ucs/type/status.h"
#include "uct/api/iface.hpp"
#include "uct/tcp/data/buffer_pool.hpp"
#include "uct/tcp/data/unfinished_frames.hpp"
#include "uct/tcp/wire.hpp"

namespace uct::tcp {

// Provides the space for the next bytes of a stream, and delivers complete messages: in place from
// its buffer, or landed in the memory that am_handler::locate returns. Has no socket. The bytes are
// untrusted. Part of a connection; owner context.
class receiver {
public:
    using handlers = std::span<const am_handler, am_id_count>;

    // Longest am_handler::landing_header of messages that are received in place.
    static constexpr std::size_t max_landing_header = 256;

    // Space after a landing message for the bytes that follow it. Short, so that the next large
    // message also lands and is not copied.
    static constexpr std::size_t landing_tail = 4096;

    // `limit` limits the memory of long frames; `owner` stands for this connection there.
    receiver(buffer_pool& pool, handlers table, unfinished_frames& limit,
             unfinished_frames::frame_owner& owner) noexcept
        : pool_(pool), handlers_(table), limit_(limit), owner_(owner) {}
    receiver(const receiver&) = delete;
    receiver& operator=(const receiver&) = delete;
    ~receiver() { drop_buffer(); }

    // Where to receive the next bytes: one or two pieces, not empty in sum. No piece if there is no
    // memory.
    [[nodiscard]] std::span<iovec> space();

    // Handles the first `count` bytes that were received into space(), count > 0. Calls handlers.
    // Adds the number of messages to `events`. Returns UCS_ERR_INVALID_PARAM if the peer violates
    // the protocol, UCS_ERR_NO_MEMORY if there is no memory for a message, and
    // UCS_ERR_EXCEEDS_LIMIT if unfinished frames take too much memory and the frame of this
    // connection is the oldest one. After an error nothing more may be received.
    ucs_status_t consume(std::size_t count, unsigned& events);

    // Control frames that came since the last call, as bits 1 << frame_kind.
    [[nodiscard]] unsigned take_control() noexcept { return std::exchange(control_, 0U); }

    // Returns the buffer to the pool if it holds no unfinished frame.
    void rest() noexcept;

    // Drops unfinished frames: the stream has ended, and the next one starts with a frame.
    void reset() noexcept;

    // Returns true if `place` lies in a message that is being delivered from the buffer.
    [[nodiscard]] bool has_in_buffer(const std::byte* place) const noexcept {
        const std::less<const std::byte*> before;
        return buffer_ != nullptr && !before(place, buffer_.get()) &&
               before(place, buffer_.get() + capacity_);
    }

    // Returns true if a message has begun and is incomplete.
    [[nodiscard]] bool in_the_middle() const noexcept {
        return landing_ || end_ > begin_ || padding_ > 0;
    }

private:
    [[nodiscard]] std::size_t available() const noexcept { return end_ - begin_; }
    ucs_status_t parse(unsigned& events);
    bool skip_padding() noexcept;
    void deliver(const wire::frame_header& frame, unsigned& events);
    bool try_to_land(const wire::frame_header& frame);
    [[nodiscard]] ucs_status_t make_room(std::size_t frame_bytes) noexcept;
    [[nodiscard]] ucs_status_t grow_buffer(std::size_t bytes) noexcept;
    void land(std::size_t count, unsigned& events);
    std::span<iovec> landing_space();
    void drop_buffer() noexcept;

    buffer_pool& pool_;
    handlers handlers_;
    unfinished_frames& limit_;
    unfinished_frames::frame_owner& owner_;
    buffer buffer_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;  // start of unparsed bytes; a frame starts at a multiple of 8
    std::size_t end_ = 0;
    std::size_t padding_ = 0;  // bytes to skip before the next frame
    unsigned control_ = 0;
    bool asked_ = false;  // the handler declined to land the frame at begin_
    bool landing_ = false;
    bool dropping_ = false;  // the destination of the landing message is gone
    am_id landing_id_ = 0;
    std::size_t payload_length_ = 0;
    std::size_t landed_ = 0;
    std::array<iovec, 2> pieces_{};
    alignas(8) std::array<std::byte, max_landing_header> header_{};
};

}  // namespace uct::tcp
