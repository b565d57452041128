// The sender's half of a connection.
#pragma once

#include <memory>
#include <vector>

#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

namespace uct::posix {

// The listening socket that a sender wants to reach, and who must have it. Anybody may have bound
// the name by the time that the sender connects.
struct listener_identity {
    std::uint64_t socket_id = 0;
    // As the peer says. Here the kernel shows the same, unless it is in another namespace.
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    bool has_our_pids = false;
    bool has_our_uids = false;
    ucs::security::worker_secret secret;
};

// Owns the segment of a ring and the socket that introduces it to the receiver. The ring may be
// written before the receiver knows of it. Owned by an endpoint; by the interface when the
// endpoint is destroyed before the introduction worked. Owner context.
class outgoing {
public:
    // To the receiver's socket; replies come to `own_socket_id`. Failures are logged.
    static ucs::result<std::unique_ptr<outgoing>> create(const ring_geometry& geometry,
                                                         std::uint64_t own_socket_id,
                                                         const listener_identity& receiver);

    // Introduces the ring, as far as that goes without waiting. UCS_OK: done. UCS_INPROGRESS: call
    // again, when the socket is readable if awaits_reply(), else after a while: a queue of the
    // receiver is full. Others are the end, and logged:
    //   UCS_ERR_UNREACHABLE    another process has the receiver's socket name
    //   UCS_ERR_NOT_CONNECTED  the receiver closed in order
    //   UCS_ERR_REJECTED       it refused
    //   UCS_ERR_CONNECTION_RESET, UCS_ERR_NO_MEMORY, UCS_ERR_IO_ERROR
    ucs_status_t introduce();

    [[nodiscard]] bool introduced() const noexcept { return step_ == step::introduced; }
    [[nodiscard]] bool awaits_reply() const noexcept { return step_ == step::reply; }
    [[nodiscard]] std::byte* base() const noexcept { return memory_.base(); }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }

    // What waits for the introduction. False: no memory.
    [[nodiscard]] bool add_flush(completion& done) noexcept;
    void drop_flush() noexcept { flushes_.pop_back(); }
    [[nodiscard]] std::vector<completion*> take_flushes() noexcept { return std::move(flushes_); }

    // The receiver owes the reply at one more look of the owner, see uct::ep::check. Statuses other
    // than UCS_OK are the end, and logged:
    //   UCS_ERR_ENDPOINT_TIMEOUT  it has been silent for too long
    //   UCS_ERR_UNREACHABLE       its process has ended
    [[nodiscard]] ucs_status_t note_silence();

    std::unique_ptr<outgoing> next_orphan;  // the interface's chain of those without endpoint
    bool watched = false;                   // the owner's event loop has the socket

private:
    enum class step { connect, challenge, reply, hello, introduced };

    // A receiver that computes, or is stopped, answers later; its process is alive.
    static constexpr unsigned most_silent_looks = 12;
    // Other users of the host can keep the queue of its socket full, so that is no silence. There
    // is a limit, because another process that has the name can as well.
    static constexpr unsigned most_looks_at_full_queue = 120;

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
    ucs::unique_fd memfd_;  // open until it is passed on
    ucs::unique_fd socket_;
    const std::uint64_t own_socket_id_;
    const listener_identity receiver_;
    ucs::security::initiator exchange_;
    hello hello_;
    step step_ = step::connect;
    unsigned silent_looks_ = 0;
    unsigned looks_at_full_queue_ = 0;
    std::vector<completion*> flushes_;
};

}  // namespace uct::posix
