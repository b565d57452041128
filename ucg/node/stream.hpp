// The ring from one rank to another as a stream of messages.
#pragma once

#include "ucg/node/segment.hpp"
#include "ucg/schedule/step.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

// Before each message's bytes, which are padded to whole frames. `bytes` is what the sender says.
struct frame {
    std::uint64_t sequence;
    std::uint64_t bytes;
    std::uint32_t channel;
    std::uint32_t kind;    // a frame_kind
    std::uint64_t status;  // of an announcement: negated
};
enum class frame_kind : std::uint32_t { message = 1, announcement = 2 };
static_assert(sizeof(frame) == 32 && line % sizeof(frame) == 0);

// The sender's end. A message longer than the ring goes through it piece by piece. Owner context.
class stream_out {
public:
    stream_out(const segment& memory, rank_t from, rank_t to) noexcept
        : shared_(&memory.ring(from, to)),
          content_(memory.ring_content(from, to)),
          size_(memory.like().ring_bytes) {}

    // Whether the next frame may be written now.
    [[nodiscard]] bool can_begin() noexcept { return left_ == 0 && room() >= sizeof(frame); }
    void begin(const frame& head) noexcept;
    // As much of the message's rest as there is room for; nullptr: bytes that nobody looks at.
    // Returns how much that was; `done` bytes went before.
    std::size_t add(const void* message, std::size_t bytes, std::size_t done) noexcept;
    // The message that was begun is not to be used: its rest has no content.
    void disown() noexcept;
    // Whether that could be said of one more: of one at a time.
    [[nodiscard]] bool can_disown() noexcept;
    // Lets the receiver see what was written. Whether there was anything.
    bool publish() noexcept;
    // The other end wrote nonsense.
    [[nodiscard]] bool broken() const noexcept { return broken_; }

private:
    [[nodiscard]] std::size_t room() noexcept;

    ring_control* shared_;
    std::byte* content_;
    std::uint64_t size_;
    std::uint64_t written_ = 0, told_ = 0;
    std::uint64_t read_ = 0;          // as far as it is known
    std::uint64_t left_ = 0;          // of the message that was begun, padding included
    std::uint64_t begun_ = 0;         // where its content begins
    std::uint64_t disowned_end_ = 0;  // of the last one that was disowned
    bool broken_ = false;
};

// The receiver's end. Owner context.
class stream_in {
public:
    stream_in(const segment& memory, rank_t from, rank_t to) noexcept
        : shared_(&memory.ring(from, to)),
          content_(memory.ring_content(from, to)),
          size_(memory.like().ring_bytes) {}

    // Bytes that can be read now: whole frames.
    [[nodiscard]] std::size_t ready() noexcept;
    [[nodiscard]] frame head() noexcept;  // sizeof(frame) bytes are ready
    // The next bytes of a message, at most `most`, which are ready or about to be: those that lie
    // together. Valid until skip().
    struct piece {
        const std::byte* data;
        std::size_t bytes;
    };
    [[nodiscard]] piece look(std::uint64_t most) noexcept;
    void skip(std::size_t bytes) noexcept { read_ += bytes; }
    // Whether the sender has disowned the message whose head was read last; known at its end.
    [[nodiscard]] bool is_disowned() noexcept { return node::look(shared_->disowned) == begun_; }
    void skip_padding() noexcept { read_ = round_up(read_, sizeof(frame)); }
    // Gives the room back. Whether there was any to give.
    bool publish() noexcept;
    // Returns how many bytes were read and skipped since the beginning.
    [[nodiscard]] std::uint64_t position() const noexcept { return read_; }
    [[nodiscard]] bool broken() const noexcept { return broken_; }

private:
    ring_control* shared_;
    std::byte* content_;
    std::uint64_t size_;
    std::uint64_t read_ = 0, told_ = 0;
    std::uint64_t written_ = 0;  // as far as it is known
    std::uint64_t begun_ = 0;    // where the content of the last message begins
    bool broken_ = false;
};

}  // namespace ucg::node
