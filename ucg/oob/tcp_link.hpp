// One connection between rank 0 and another rank.
#pragma once

#include <sys/types.h>

#include "ucg/oob/tcp_wire.hpp"
#include "ucs/net/silence_watch.hpp"
#include "ucs/security/opening.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::oob {

// Sends one frame at a time and reads the other's frame by frame; never waits. Owner context.
// What the functions return: UCS_OK: done; UCS_INPROGRESS: call again when the socket is ready;
// UCS_ERR_CONNECTION_RESET: the other end is gone.
class tcp_link {
public:
    explicit tcp_link(ucs::unique_fd socket) noexcept;
    ~tcp_link() { close(); }
    tcp_link(const tcp_link&) = delete;
    tcp_link& operator=(const tcp_link&) = delete;

    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    // Ends the connection; nothing more may be sent or read. In a child that a fork() made it goes
    // on, as it is the parent's.
    void close() noexcept;

    // Sends and receives what the opening of the connection still needs, before the first frame.
    [[nodiscard]] ucs::security::opening::step advance(ucs::security::opening& with) noexcept;

    // Whether the other side's host owes an answer and says nothing, for half a minute of calls.
    // Keep-alive alone does not see this while something is on the way.
    [[nodiscard]] bool is_silent() noexcept;

    // Begins to send; only when all before was sent. `body` stays until flush() says UCS_OK; the
    // contents of a failure are copied.
    void put(wire::header what, std::span<const std::byte> body = {}) noexcept;
    void put(wire::header what, const wire::failure& why) noexcept;
    // With something of at most failure::most_bytes before the body, which is copied.
    void put(wire::header what, std::span<const std::byte> start,
             std::span<const std::byte> body) noexcept;
    [[nodiscard]] ucs_status_t flush() noexcept;
    [[nodiscard]] bool is_sending() const noexcept { return sent_ < head_size_ + body_.size(); }
    // Sends no more of the body that it was given: its memory goes away. Whether the frame is
    // whole.
    bool forget_body() noexcept;

    // The header of the frame that comes. UCS_ERR_INVALID_PARAM: it is none of ours.
    [[nodiscard]] ucs_status_t read_header() noexcept;
    [[nodiscard]] const wire::header& header() const noexcept { return came_; }
    // Whether a header was read, and what follows it was not yet.
    [[nodiscard]] bool in_frame() const noexcept { return in_frame_; }
    // The contents, as many as the header says, into memory of the caller, which stays the same
    // from call to call. UCS_OK ends the frame.
    [[nodiscard]] ucs_status_t read_body(std::span<std::byte> into) noexcept;
    // The contents of a failure; ends the frame. UCS_ERR_INVALID_PARAM: malformed.
    [[nodiscard]] ucs_status_t read_failure(wire::failure& into, rank_t ranks);

private:
    [[nodiscard]] ucs_status_t read_some(std::span<std::byte> into, std::size_t& count) noexcept;

    ucs::unique_fd socket_;
    pid_t process_;
    ucs::net::silence_watch silence_;
    ucs::time::nanoseconds next_look_ = 0;
    // Out.
    std::array<std::byte, wire::header::size + wire::failure::most_bytes> head_;
    std::size_t head_size_ = 0;
    std::span<const std::byte> body_;
    std::size_t sent_ = 0;  // of both
    // In.
    wire::header_bytes in_head_;
    std::array<std::byte, wire::failure::most_bytes> in_failure_;
    std::size_t in_count_ = 0;  // of the header, then of what follows it
    bool in_frame_ = false;
    wire::header came_;
};

// Non-blocking, and as the links need it.
void tune_socket(int fd) noexcept;

}  // namespace ucg::oob
