// Cuts the byte stream of a connection into frames.
#pragma once

#include <sys/uio.h>

#include <array>
#include <functional>
#include <span>

#include "ucs/type/status.h"
#include "uct/api/iface.hpp"
#include "uct/tcp/buffer_pool.hpp"
#include "uct/tcp/unfinished_frames.hpp"
#include "uct/tcp/wire.hpp"

namespace uct::tcp {

// Says where the next bytes of a stream belong and delivers the messages that they complete: in
// place from its buffer, or landed in the memory that am_handler::locate names. Knows no socket.
// The bytes are untrusted. Part of a connection; owner context.
class receiver {
public:
    using handlers = std::span<const am_handler, am_id_count>;

    // Longest am_handler::landing_header for which messages are received in place.
    static constexpr std::size_t max_landing_header = 256;

    // Room behind a landing message for what follows it. Short, so that the next large message
    // lands as well and is not copied.
    static constexpr std::size_t landing_tail = 4096;

    // `limit` counts the memory of long frames; `owner` stands for this connection there.
    receiver(buffer_pool& pool, handlers table, unfinished_frames& limit,
             unfinished_frames::frame_owner& owner) noexcept
        : pool_(pool), handlers_(table), limit_(limit), owner_(owner) {}
    receiver(const receiver&) = delete;
    receiver& operator=(const receiver&) = delete;
    ~receiver() { drop_buffer(); }

    // Where to receive next: one or two pieces, never empty in sum. No piece: there is no memory to
    // receive into now.
    [[nodiscard]] std::span<iovec> space();

    // Takes the first `count` bytes that were received into space(), count > 0. Handlers run in
    // here. `events` is raised by the number of messages. UCS_ERR_INVALID_PARAM: the peer does
    // not speak the protocol. UCS_ERR_NO_MEMORY: a message needs more than there is.
    // UCS_ERR_EXCEEDS_LIMIT: unfinished frames take too much, and this one was begun first. Nothing
    // more may be received then.
    ucs_status_t consume(std::size_t count, unsigned& events);

    // Control frames that came since the last call, as bits 1 << frame_kind.
    [[nodiscard]] unsigned take_control() noexcept { return std::exchange(control_, 0U); }

    // Gives the buffer back when nothing unfinished is in it.
    void rest() noexcept;

    // Forgets what is unfinished: the stream ended, the next one starts with a frame.
    void reset() noexcept;

    // Returns whether a message that is being delivered lies there.
    [[nodiscard]] bool has_in_buffer(const std::byte* place) const noexcept {
        const std::less<const std::byte*> before;
        return buffer_ != nullptr && !before(place, buffer_.get()) &&
               before(place, buffer_.get() + capacity_);
    }

    // A message has begun and is not complete.
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
    std::size_t begin_ = 0;  // of bytes not yet parsed; a frame starts at a multiple of 8
    std::size_t end_ = 0;
    std::size_t padding_ = 0;  // bytes to skip before the next frame
    unsigned control_ = 0;
    bool asked_ = false;  // the handler did not want to land the frame at begin_
    bool landing_ = false;
    bool dropping_ = false;  // the place of the landing message went away
    am_id landing_id_ = 0;
    std::size_t payload_length_ = 0;
    std::size_t landed_ = 0;
    std::array<iovec, 2> pieces_{};
    alignas(8) std::array<std::byte, max_landing_header> header_{};
};

}  // namespace uct::tcp
