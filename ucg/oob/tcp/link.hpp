// One connection between rank 0 and another rank.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "ucg/oob/tcp/wire.hpp"
#include "ucs/net/reply_state.hpp"
#include "ucs/security/key.hpp"
#include "ucs/security/key_handshake.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::oob {

// The job key as the connections of a store use it.
using job_key = std::optional<ucs::security::key>;

// The purpose of connections between rank 0 and the other ranks, which is part of their proofs.
inline constexpr std::string_view store_purpose = "ucg store";

// Sends one frame at a time and receives the peer's frames one after the other; never blocks. Owner
// context. The functions return UCS_OK: done; UCS_INPROGRESS: call again when the socket is ready;
// UCS_ERR_CONNECTION_RESET: the peer is gone.
class tcp_link {
public:
    explicit tcp_link(ucs::unique_fd socket) noexcept;
    ~tcp_link() { close(); }
    tcp_link(const tcp_link&) = delete;
    tcp_link& operator=(const tcp_link&) = delete;

    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    // Ends the connection. The caller must not send or receive afterwards. In a forked child the
    // connection stays open, because it is the parent's.
    void close() noexcept;

    // Progresses the key handshake of the connection, before the first frame.
    [[nodiscard]] ucs::security::key_handshake::step advance(
        ucs::security::key_handshake& handshake) noexcept;

    // True if the peer's host has not acknowledged anything for half a minute of calls, although it
    // should. Keep-alive alone does not detect this while data is in flight.
    [[nodiscard]] bool is_silent() noexcept;

    // Begins to send a frame. The frame before must be sent. `body` stays valid until flush()
    // returns UCS_OK; the contents of a failure are copied.
    void put(wire::header head, std::span<const std::byte> body = {}) noexcept;
    void put(wire::header head, const wire::failure& failure) noexcept;
    // Sends `start`, of at most failure::max_bytes, before the body. `start` is copied.
    void put(wire::header head, std::span<const std::byte> start,
             std::span<const std::byte> body) noexcept;
    [[nodiscard]] ucs_status_t flush() noexcept;
    [[nodiscard]] bool is_sending() const noexcept { return sent_ < head_size_ + body_.size(); }
    // Drops the unsent rest of the body, because its memory goes away. Returns true if the frame
    // was complete.
    bool forget_body() noexcept;

    // Receives the header of the next frame. UCS_ERR_INVALID_PARAM: it is malformed.
    [[nodiscard]] ucs_status_t read_header() noexcept;
    [[nodiscard]] const wire::header& header() const noexcept { return header_; }
    // True if the header was received and the content was not.
    [[nodiscard]] bool in_frame() const noexcept { return in_frame_; }
    // Receives the content into memory of the caller, which stays the same from call to call.
    // `into` has the length from the header. UCS_OK ends the frame.
    [[nodiscard]] ucs_status_t read_body(std::span<std::byte> into) noexcept;
    // Receives the content of a failure; ends the frame. UCS_ERR_INVALID_PARAM: malformed.
    [[nodiscard]] ucs_status_t read_failure(wire::failure& into, rank_t ranks);

private:
    [[nodiscard]] ucs_status_t read_some(std::span<std::byte> into, std::size_t& count) noexcept;

    ucs::unique_fd socket_;
    pid_t process_;
    ucs::net::silence_watch silence_;
    ucs::time::nanoseconds next_check_ = 0;
    // The frame that is sent.
    std::array<std::byte, wire::header::size + wire::failure::max_bytes> head_;
    std::size_t head_size_ = 0;
    std::span<const std::byte> body_;
    std::size_t sent_ = 0;  // bytes of head_ and body_
    // The frame that is received.
    wire::header_bytes in_head_;
    std::array<std::byte, wire::failure::max_bytes> in_failure_;
    std::size_t in_count_ = 0;  // bytes of the header, then of the content
    bool in_frame_ = false;
    wire::header header_;
};

}  // namespace ucg::oob
