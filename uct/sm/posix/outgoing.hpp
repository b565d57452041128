// The sender's half of a connection.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

namespace uct::posix {

// The listening socket that a sender wants to reach, and the process that must have it. Anybody may
// have bound the name by the time that the sender connects.
struct listener_identity {
    std::uint64_t socket_id = 0;
    // As the kernel will show them. Nothing: the peer is in another namespace, where they mean
    // nothing.
    std::optional<std::uint32_t> pid;
    std::optional<std::uint32_t> uid;
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

    // Introduces the ring. UCS_OK: done. UCS_INPROGRESS: the receiver's queue is full, try again.
    // UCS_ERR_UNREACHABLE: another process has the receiver's socket name, and was told nothing.
    // Errors are logged.
    ucs_status_t introduce();

    [[nodiscard]] bool introduced() const noexcept { return step_ == step::introduced; }
    [[nodiscard]] std::byte* base() const noexcept { return memory_.base(); }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }

    // What waits for the introduction. False: no memory.
    [[nodiscard]] bool add_flush(completion& done) noexcept;
    void drop_flush() noexcept { flushes_.pop_back(); }
    [[nodiscard]] std::vector<completion*> take_flushes() noexcept { return std::move(flushes_); }

    std::unique_ptr<outgoing> next_orphan;  // the interface's chain of those without endpoint

private:
    enum class step { connect, greet, introduced };

    outgoing(segment memory, ucs::unique_fd memfd, ucs::unique_fd socket, const hello& said,
             const listener_identity& receiver) noexcept;
    ucs_status_t connect();
    [[nodiscard]] ucs_status_t check_listener() const;
    ucs_status_t greet();
    ucs_status_t failed(const char* call, int error) const;

    segment memory_;
    ucs::unique_fd memfd_;  // open until it is passed on
    ucs::unique_fd socket_;
    const listener_identity receiver_;
    const hello hello_;
    step step_ = step::connect;
    std::vector<completion*> flushes_;
};

}  // namespace uct::posix
