// Channel over a TCP socket. Frames are far shorter than the send buffer of a fresh socket.
#include <sys/socket.h>

#include <cerrno>

#include "ucp/cm/connect.hpp"
#include "ucs/net/socket.hpp"

namespace ucp::cm {

namespace {

// A peer whose host is gone is found within a minute. Nothing else would show that.
constexpr ucs::net::liveness probing{.idle = 20, .interval = 5, .probes = 6};

class over_tcp final : public channel {
public:
    explicit over_tcp(ucs::unique_fd socket) noexcept : socket_(std::move(socket)) {
        ucs::net::make_lively(fd(), probing);
    }

    [[nodiscard]] int fd() const noexcept override { return socket_.get(); }

    [[nodiscard]] int connect_error() noexcept override { return ucs::net::connect_error(fd()); }

    [[nodiscard]] bool send(std::span<const std::byte> frame) noexcept override {
        return ucs::net::send_whole(fd(), frame);
    }

    // The kernel delivers the data that it took, unless received bytes are left unread: then it
    // resets the connection, and sent data may be lost with it.
    [[nodiscard]] bool finish() noexcept override {
        std::array<std::byte, longest_message> rest;
        static_cast<void>(::recv(fd(), rest.data(), rest.size(), MSG_DONTWAIT));
        return true;
    }

    [[nodiscard]] uct::tcp::socket_address local() const noexcept override {
        return ucs::net::local_address(fd());
    }
    [[nodiscard]] uct::tcp::socket_address remote() const noexcept override {
        return ucs::net::remote_address(fd());
    }

private:
    [[nodiscard]] ssize_t receive(std::span<std::byte> into) noexcept override {
        return ucs::net::receive_some(fd(), into);
    }

    ucs::unique_fd socket_;
};

}  // namespace

std::unique_ptr<channel> tcp_channel(ucs::unique_fd socket) {
    return std::make_unique<over_tcp>(std::move(socket));
}

attempt connect_tcp(const uct::tcp::socket_address& to, const uct::tcp::socket_address& from) {
    attempt made;
    ucs::unique_fd socket = ucs::net::open_stream(to.data()->sa_family);
    if (!socket) {
        made.error = errno;
        return made;
    }
    if (from.data()->sa_family != AF_UNSPEC) {
        const int yes = 1;
        static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
        if (::bind(socket.get(), from.data(), from.size()) != 0) {
            made.error = errno;
            return made;
        }
    }
    if (::connect(socket.get(), to.data(), to.size()) != 0 && errno != EINPROGRESS) {
        made.refused = errno;
    }
    made.made = tcp_channel(std::move(socket));
    return made;
}

}  // namespace ucp::cm
