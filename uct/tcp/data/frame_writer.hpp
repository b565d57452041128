// The sending side of a connection: frames, flushes and what waits to be written to the socket.
#pragma once

#include <cerrno>
#include <optional>
#include <vector>

#include "uct/tcp/data/send_queue.hpp"
#include "uct/tcp/data/stream_socket.hpp"

namespace uct::tcp {

class connection;
class ep;
class iface;

// Part of a connection. If the socket breaks, the connection fails; progress reports that, not the
// functions here. Owner context.
class frame_writer {
public:
    frame_writer(iface& owner, connection& link) noexcept;

    [[nodiscard]] bool empty() const noexcept { return tx_.empty(); }
    // See connection::can_send.
    [[nodiscard]] bool has_room(std::size_t frame_bytes) const noexcept {
        return tx_.has_room(frame_bytes);
    }

    // For the statuses, see ep.hpp.
    // Sends a frame. The body of `length` bytes lies after space for the header and before space
    // for padding. Requires connection::can_send, like send_zcopy.
    ucs_status_t send_frame(am_id id, std::byte* frame, std::size_t length);
    ucs_status_t send_zcopy(ep& user, am_id id, std::span<const std::byte> header,
                            std::span<const iov> payload, completion* done);
    ucs_status_t flush(ep& user, completion* done);
    void send_control(wire::frame_kind kind);

    // Writes as much as the socket takes. Returns the number of operations that have ended.
    unsigned send_queued();
    // Sets the events of the socket that the interface waits for.
    void watch(std::uint32_t events);

    // Ends the operations of the endpoint. A message in progress is sent from a copy, so that the
    // caller may reuse its memory and its completions.
    void end_operations_of(const ep& user);
    // All operations are removed before the first completion is called.
    void end_operations(ucs_status_t status);
    // Drops what is queued. Returns the number of bytes that were ever queued.
    std::uint64_t drop_queued() noexcept;
    // Ends flushes that wait for at most the first `sent` bytes; returns their number.
    unsigned finish_flushes(std::uint64_t sent);

    stream_socket socket;  // receiving uses it, too

private:
    struct waiting_flush {
        std::uint64_t until;  // bytes sent
        completion* done;
        const ep* user;
    };

    [[gnu::cold]] ssize_t write_encrypted(std::span<std::byte> frame) noexcept;
    ssize_t write_some() noexcept;
    ucs_status_t fail_sending(int error);

    iface& owner_;
    connection& link_;
    send_queue tx_;
    std::vector<waiting_flush> flushes_;
    const ep* zcopy_user_ = nullptr;  // the endpoint whose zero-copy message is in progress
    std::optional<wire::frame_kind>
        queued_control_;  // control frame to send after the queued bytes
};

// Returns true if a call of the socket must be repeated later.
[[nodiscard]] inline bool would_block(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS;
}

}  // namespace uct::tcp
