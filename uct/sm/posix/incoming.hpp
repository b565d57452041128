// The receiver's half of a connection.
#pragma once

#include "ucs/log/throttle.hpp"
#include "uct/sm/posix/ring_reader.hpp"
#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

namespace uct::posix {

// One sender, from its connect to the last message of its ring. Owned by the interface, owner
// context.
class incoming {
public:
    enum class state {
        greeting,  // connected, no hello yet
        open,      // its ring is polled
        draining,  // the sender is gone, what it left is still delivered
        ended,     // to be dropped
    };

    incoming(ucs::unique_fd socket, const ucs::sys::peer_credentials& peer,
             ucs::log::throttle& rejected) noexcept
        : socket_(std::move(socket)), peer_(peer), rejected_(rejected) {}

    // Reads the socket: takes the hello, or notices that the sender is gone or misbehaves.
    // Refusals are logged.
    void on_socket_event();

    // Everything that the sender left has been delivered.
    void drained() noexcept { state_ = state::ended; }

    // The sender sleeps, and there is room again.
    void wake() const noexcept { send_wake_up_call(socket_.get()); }

    // Ends it and tells the sender why.
    void end(goodbye_reason reason) noexcept;

    [[nodiscard]] state now() const noexcept { return state_; }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    [[nodiscard]] const ucs::sys::peer_credentials& peer() const noexcept { return peer_; }
    // The socket on which its sender receives, as it says.
    [[nodiscard]] std::uint64_t answer_to() const noexcept { return answer_to_; }
    [[nodiscard]] ring_reader& ring() noexcept { return ring_; }
    [[nodiscard]] const ring_reader& ring() const noexcept { return ring_; }

private:
    void greet(packet& got);
    void refuse(const std::string& why_not);

    ring_reader ring_;
    state state_ = state::greeting;
    std::uint64_t answer_to_ = 0;
    segment memory_;
    ucs::unique_fd socket_;
    ucs::sys::peer_credentials peer_;
    ucs::log::throttle& rejected_;
};

}  // namespace uct::posix
