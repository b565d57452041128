// The sending side of a connection.
#pragma once

#include <memory>
#include <vector>

#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

namespace uct::posix {

// The listening socket that a sender wants to reach, and the process that must own it. Another
// process may have bound the name before the sender connects.
struct listener_identity {
    std::uint64_t socket_id = 0;
    // As the peer claims. The kernel of this process must report the same, unless the peer is in
    // another namespace.
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    bool has_our_pids = false;
    bool has_our_uids = false;
    ucs::security::worker_secret secret;
};

// Owns the segment of a ring and the socket that passes it to the receiver. Messages may be written
// to the ring before the receiver knows it. Owned by an endpoint; if the endpoint is destroyed
// before the receiver has the ring, by the interface. Owner context.
class outgoing {
public:
    // Creates a connection to the receiver's socket; replies come to `own_socket_id`. Failures are
    // logged.
    static ucs::result<std::unique_ptr<outgoing>> create(const ring_geometry& geometry,
                                                         std::uint64_t own_socket_id,
                                                         const listener_identity& receiver);

    // Passes the ring to the receiver, as far as that is possible without waiting. UCS_OK: done.
    // UCS_INPROGRESS: call again, when the socket is readable if awaits_reply(), otherwise after a
    // while, because a queue of the receiver is full. Other statuses are final, and logged:
    //   UCS_ERR_UNREACHABLE    another process has the receiver's socket name
    //   UCS_ERR_NOT_CONNECTED  the receiver has closed
    //   UCS_ERR_REJECTED       the receiver refused
    //   UCS_ERR_CONNECTION_RESET, UCS_ERR_NO_MEMORY, UCS_ERR_IO_ERROR
    ucs_status_t introduce();

    [[nodiscard]] bool introduced() const noexcept { return step_ == step::introduced; }
    [[nodiscard]] bool awaits_reply() const noexcept { return step_ == step::reply; }
    [[nodiscard]] std::byte* base() const noexcept { return memory_.base(); }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }

    // Adds a flush that waits for the introduction. Returns false if there is no memory.
    [[nodiscard]] bool add_flush(completion& done) noexcept;
    void drop_flush() noexcept { flushes_.pop_back(); }
    [[nodiscard]] std::vector<completion*> take_flushes() noexcept { return std::move(flushes_); }

    // Records that the reply is still due at one more check of the owner, see uct::ep::check.
    // Statuses other than UCS_OK are final, and logged:
    //   UCS_ERR_ENDPOINT_TIMEOUT  the receiver has been silent for too long
    //   UCS_ERR_UNREACHABLE       its process has ended
    [[nodiscard]] ucs_status_t check_reply();

    std::unique_ptr<outgoing> next_orphan;  // the interface's chain of connections without endpoint
    bool watched = false;                   // the owner's event loop watches the socket

private:
    enum class step { connect, challenge, reply, hello, introduced };

    // A receiver that computes, or is stopped, replies later; its process is alive.
    static constexpr unsigned max_silent_checks = 12;
    // Other users of the host can keep the queue of the receiver's socket full, so that does not
    // count as silence. There is a limit, because another process that has the name can do so, too.
    static constexpr unsigned max_full_queue_checks = 120;

    outgoing(segment memory, ucs::unique_fd memfd, ucs::unique_fd socket, const hello& said,
             std::uint64_t own_socket_id, const listener_identity& receiver) noexcept;
    ucs_status_t connect();
    ucs_status_t note_full_queue();
    [[nodiscard]] ucs_status_t check_listener();
    ucs_status_t send_challenge();
    ucs_status_t read_reply();
    ucs_status_t take_reply(std::span<const std::byte> received);
    ucs_status_t greet();
    [[nodiscard]] ucs_status_t ended_by(packet_kind goodbye) const;
    [[nodiscard]] ucs_status_t lost(const char* call, int error) const;
    ucs_status_t failed(const char* call, int error) const;

    segment memory_;
    ucs::unique_fd memfd_;  // open until it is passed to the receiver
    ucs::unique_fd socket_;
    const std::uint64_t own_socket_id_;
    const listener_identity receiver_;
    ucs::security::initiator exchange_;
    hello hello_;
    step step_ = step::connect;
    unsigned silent_checks_ = 0;
    unsigned full_queue_checks_ = 0;
    std::vector<completion*> flushes_;
};

}  // namespace uct::posix
