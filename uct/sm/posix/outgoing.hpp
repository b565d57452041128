// The sender's half of a connection.
#pragma once

#include <memory>
#include <vector>

#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

namespace uct::posix {

// Owns the segment of a ring and the socket that introduces it to the receiver. The ring may be
// written before the receiver knows of it. Owned by an endpoint; by the interface when the
// endpoint is destroyed before the introduction worked. Owner context.
class outgoing {
public:
    // To the receiver's socket, from who receives on `own_socket_id`. Failures are logged.
    static ucs::result<std::unique_ptr<outgoing>> create(const ring_geometry& geometry,
                                                         std::uint64_t own_socket_id,
                                                         std::uint64_t socket_id);

    // Introduces the ring. UCS_OK: done. UCS_INPROGRESS: the receiver's queue is full, try again.
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
             std::uint64_t socket_id) noexcept;
    ucs_status_t connect();
    ucs_status_t greet();
    ucs_status_t failed(const char* call, int error) const;

    segment memory_;
    ucs::unique_fd memfd_;  // open until it is passed on
    ucs::unique_fd socket_;
    const std::uint64_t socket_id_;
    const hello hello_;
    step step_ = step::connect;
    std::vector<completion*> flushes_;
};

}  // namespace uct::posix
