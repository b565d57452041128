// A stream of messages through the ring from one rank to another.
#pragma once

#include "ucg/node/memory/shared_memory.hpp"
#include "ucg/schedule/step.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

// Precedes each message's bytes, which are padded to whole frames. `bytes` is the length that the
// sender claims.
struct frame {
    std::uint64_t sequence;
    std::uint64_t bytes;
    std::uint32_t channel;
    std::uint32_t kind;    // a frame_kind
    std::uint64_t status;  // of a failure: negated
};
enum class frame_kind : std::uint32_t { message = 1, failure = 2 };
static_assert(sizeof(frame) == 32 && line % sizeof(frame) == 0);

// The sender's end. A message longer than the ring goes through it piece by piece. Owner context.
class stream_out {
public:
    stream_out(const shared_memory& memory, rank_t from, rank_t to) noexcept
        : shared_(&memory.ring(from, to)),
          content_(memory.ring_content(from, to)),
          size_(memory.layout().ring_bytes) {}

    // Returns whether the next frame may be written now.
    [[nodiscard]] bool can_begin() noexcept { return left_ == 0 && room() >= sizeof(frame); }
    void begin(const frame& head) noexcept;
    // Writes as much of the rest of the message as the ring has room for. If `message` is null, the
    // bytes are undefined. `done` bytes were written before. Returns how many bytes were written.
    std::size_t add(const void* message, std::size_t bytes, std::size_t done) noexcept;
    // Marks the message that was begun as invalid: its rest has no content.
    void disown() noexcept;
    // Returns whether the next message could be disowned. The ring has room for the mark of one
    // message at a time.
    [[nodiscard]] bool can_disown() noexcept;
    // Makes the written bytes visible to the receiver. Returns whether there were any.
    bool publish() noexcept;
    // Returns whether the receiver wrote an invalid position.
    [[nodiscard]] bool is_broken() const noexcept { return broken_; }

private:
    [[nodiscard]] std::size_t room() noexcept;

    ring_control* shared_;
    std::byte* content_;
    std::uint64_t size_;
    std::uint64_t written_ = 0, published_ = 0;
    std::uint64_t read_ = 0;           // last value read of the receiver's position
    std::uint64_t left_ = 0;           // of the current message, including its padding
    std::uint64_t content_begin_ = 0;  // position of the content of the current message
    std::uint64_t disowned_end_ = 0;   // end of the last message that was disowned
    bool broken_ = false;
};

// The receiver's end. Owner context.
class stream_in {
public:
    stream_in(const shared_memory& memory, rank_t from, rank_t to) noexcept
        : shared_(&memory.ring(from, to)),
          content_(memory.ring_content(from, to)),
          size_(memory.layout().ring_bytes) {}

    // Returns how many bytes can be read now: whole frames.
    [[nodiscard]] std::size_t ready() noexcept;
    [[nodiscard]] frame head() noexcept;  // sizeof(frame) bytes are ready
    // Returns the next contiguous bytes of a message, at most `most`. Valid until skip().
    struct piece {
        const std::byte* data;
        std::size_t bytes;
    };
    [[nodiscard]] piece next(std::uint64_t most) noexcept;
    void skip(std::size_t bytes) noexcept { read_ += bytes; }
    // Returns whether the sender has disowned the message whose head was read last. Only known at
    // the end of the message.
    [[nodiscard]] bool is_disowned() noexcept {
        return node::load_acquire(shared_->disowned) == content_begin_;
    }
    void skip_padding() noexcept { read_ = round_up(read_, sizeof(frame)); }
    // Gives the room of the bytes that were read back to the sender. Returns whether there was any.
    bool publish() noexcept;
    // Returns how many bytes were read and skipped since the beginning.
    [[nodiscard]] std::uint64_t position() const noexcept { return read_; }
    [[nodiscard]] bool is_broken() const noexcept { return broken_; }

private:
    ring_control* shared_;
    std::byte* content_;
    std::uint64_t size_;
    std::uint64_t read_ = 0, published_ = 0;
    std::uint64_t written_ = 0;        // last value read of the sender's position
    std::uint64_t content_begin_ = 0;  // position of the content of the last message
    bool broken_ = false;
};

}  // namespace ucg::node
