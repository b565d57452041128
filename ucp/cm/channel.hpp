// The socket of an exchange.
#pragma once

#include "ucp/cm/inbox.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/tcp/ip_address.hpp"

namespace ucp::cm {

// A non-blocking TCP socket that carries frames. Frames are far shorter than the buffer of a
// socket that nothing was sent on, so what it does not take at once is an error. Move only; who
// owns it watches it. Owner context.
class channel {
public:
    channel() noexcept = default;
    explicit channel(ucs::unique_fd socket) noexcept;

    // A socket that is being connected, bound to `from` unless that is empty; or why not.
    struct attempt;
    static attempt connect(const uct::tcp::socket_address& to,
                           const uct::tcp::socket_address& from) noexcept;
    // After the socket became writable: 0 or errno.
    [[nodiscard]] int connect_error() const noexcept;

    enum class input { nothing_yet, frame, nonsense, end };
    // Reads what there is of a frame.
    [[nodiscard]] input read(inbox& into) const noexcept;

    [[nodiscard]] bool send(std::span<const std::byte> frame) const noexcept;
    void send_refusal(wire::reason why) const noexcept;
    void send_established() const noexcept;

    [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(socket_); }
    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    void close() noexcept { socket_.reset(); }

private:
    ucs::unique_fd socket_;
};

struct channel::attempt {
    channel socket;
    int error = 0;    // of making the socket
    int refused = 0;  // of connecting it
};

}  // namespace ucp::cm
