// The receiving side of a connection.
#pragma once

#include <optional>

#include "ucs/log/throttle.hpp"
#include "ucs/time/clock.hpp"
#include "uct/base/connection_number.hpp"
#include "uct/sm/posix/ring_reader.hpp"
#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

namespace uct::posix {

// The identity that a receiver proves to its senders: the secret in its address, for the socket
// that it listens on.
struct receiver_identity {
    const ucs::security::worker_secret& secret;
    std::uint64_t socket_id;
};

// One sender, from its connection until its last message is delivered. Owned by the interface,
// owner context.
class incoming {
public:
    enum class state {
        connected,   // nothing was received
        challenged,  // the proofs of both sides are being exchanged
        open,        // its ring is polled
        draining,    // the sender is gone; its remaining messages are delivered
        ended,       // to be dropped
    };

    // `own` and `rejected` belong to the interface and outlive this object.
    incoming(ucs::unique_fd socket, const ucs::sys::peer_credentials& peer,
             const receiver_identity& own, ucs::log::throttle& rejected) noexcept
        : socket_(std::move(socket)),
          peer_(peer),
          own_(own),
          rejected_(rejected),
          since_(ucs::time::now()) {}

    // Reads the socket: replies to the challenge, takes the hello, or notices that the sender is
    // gone or misbehaves. Refusals are logged.
    void on_socket_event();

    // All messages of the sender have been delivered.
    void drained() noexcept { state_ = state::ended; }

    // Wakes the sleeping sender, because there is room again.
    void wake() const noexcept { send_wake_up_call(socket_.get()); }

    // Ends the connection and sends the sender the reason.
    void end(packet_kind goodbye) noexcept;

    [[nodiscard]] state now() const noexcept { return state_; }
    // Its ring is not open yet.
    [[nodiscard]] bool is_connecting() const noexcept {
        return state_ == state::connected || state_ == state::challenged;
    }
    // Returns true if its challenge or hello has been due for so long that the connection may be
    // closed to make room.
    [[nodiscard]] bool is_silent() const noexcept {
        constexpr ucs::time::nanoseconds time_to_say = 60 * ucs::time::second;
        return is_connecting() && ucs::time::now() - since_ > time_to_say;
    }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    // See iface::connection_of.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] const ucs::sys::peer_credentials& peer() const noexcept { return peer_; }
    // The socket on which the sender receives, as it claims.
    [[nodiscard]] std::uint64_t reply_socket() const noexcept { return reply_socket_; }
    [[nodiscard]] bool has_in_ring(const std::byte* place) const noexcept {
        return memory_.holds(place);
    }
    [[nodiscard]] ring_reader& ring() noexcept { return ring_; }
    [[nodiscard]] const ring_reader& ring() const noexcept { return ring_; }

private:
    void take(packet& got);
    void answer(std::span<const std::byte> received);
    void greet(packet& got);
    void refuse(const std::string& reason);

    ring_reader ring_;
    state state_ = state::connected;
    std::uint64_t reply_socket_ = 0;
    segment memory_;
    ucs::unique_fd socket_;
    ucs::sys::peer_credentials peer_;
    const receiver_identity& own_;
    std::optional<ucs::security::responder> exchange_;  // until its ring is open
    ucs::log::throttle& rejected_;
    const ucs::time::nanoseconds since_;
    const std::uint64_t number_ = next_connection_number();
};

}  // namespace uct::posix
