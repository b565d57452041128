// Bytes and messages that a connection still has to write to its socket.
#pragma once

#include <sys/uio.h>

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "uct/api/types.hpp"
#include "uct/tcp/data/buffer_pool.hpp"
#include "uct/tcp/wire.hpp"

namespace uct::tcp {

// Limits of a zero-copy message: the longest header, and the highest number of pieces.
inline constexpr std::size_t max_zcopy_header = 256;
inline constexpr std::size_t max_zcopy_pieces = 16;

// A message that is sent from the caller's memory: frame header and message header (copied), the
// caller's pieces, padding. The queue reuses the object for its next zero-copy message.
struct zcopy_message {
    static constexpr std::size_t max_parts = max_zcopy_pieces + 2;

    alignas(8) std::array<std::byte, wire::frame_header_size + max_zcopy_header> prefix;
    std::array<iovec, max_parts> parts;
    std::size_t first = 0;  // index of the first unsent part
    std::size_t count = 0;
    std::size_t bytes = 0;  // unsent bytes
    // A copy of the rest of the message, if its memory was returned to the caller (keep_zcopy).
    std::unique_ptr<std::byte[]> kept;
    completion* done = nullptr;

    void compose(am_id id, std::span<const std::byte> header, std::span<const iov> payload,
                 std::size_t length, completion* when_sent) noexcept;
};

// Bytes that the socket has not accepted yet, followed by at most one zero-copy message. The queue
// does not use the socket itself. Part of a connection; owner context.
class send_queue {
public:
    // Highest number of pieces that pieces() returns.
    static constexpr std::size_t max_pieces = zcopy_message::max_parts + 1;

    explicit send_queue(buffer_pool& pool) noexcept : pool_(pool) {}
    send_queue(const send_queue&) = delete;
    send_queue& operator=(const send_queue&) = delete;
    ~send_queue() { drop_buffer(); }

    [[nodiscard]] bool empty() const noexcept { return begin_ == end_ && !zcopy_active_; }

    // Returns true if bytes are queued. Without a zero-copy message this is the opposite of
    // empty().
    [[nodiscard]] bool has_bytes() const noexcept { return begin_ != end_; }

    // Returns true if a frame of that many bytes can be appended.
    [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
        return !zcopy_active_ && bytes <= pool_.buffer_size() - (end_ - begin_);
    }
    [[nodiscard]] bool has_zcopy() const noexcept { return zcopy_active_; }

    // Appends whole frames, or the rest of a frame whose beginning the socket has accepted;
    // requires has_room. Returns false if there is no memory; then nothing is appended.
    [[nodiscard]] bool append(std::span<const std::byte> bytes) noexcept;

    // Returns the object in which the caller composes the next zero-copy message, which
    // start_zcopy() adds to the queue; requires !has_zcopy(). Returns nullptr if there is no
    // memory.
    [[nodiscard]] zcopy_message* next_zcopy() noexcept;
    void start_zcopy() noexcept { zcopy_active_ = true; }

    // Returns the queued bytes in the order in which they must be sent.
    [[nodiscard]] std::span<iovec> pieces() noexcept;

    // Removes the first `count` bytes, which the socket has accepted. If they include the end of
    // the zero-copy message, returns its completion, or nullptr if it has none. The caller must
    // call the completion last.
    [[nodiscard]] completion* advance(std::size_t count) noexcept;

    // Copies the rest of the zero-copy message, so that the caller may reuse its memory. Sets
    // `completed` to the completion that must be called, or nullptr. Returns false if there is no
    // memory for the copy.
    [[nodiscard]] bool keep_zcopy(completion*& completed) noexcept;

    // Drops everything. Returns the completion that must be called, or nullptr.
    [[nodiscard]] completion* clear() noexcept;

    // queued() is the number of all bytes that were ever queued, sent() of those that the socket
    // has accepted. A flush waits until sent() reaches the value that queued() had when the flush
    // began.
    [[nodiscard]] std::uint64_t queued() const noexcept { return sent_ + waiting(); }
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    [[nodiscard]] std::size_t waiting() const noexcept {
        return end_ - begin_ + (zcopy_active_ ? zcopy_->bytes : 0);
    }

private:
    void drop_buffer() noexcept;

    buffer_pool& pool_;
    buffer buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t sent_ = 0;
    std::unique_ptr<zcopy_message> zcopy_;
    bool zcopy_active_ = false;
    std::array<iovec, max_pieces> pieces_{};
};

}  // namespace uct::tcp
