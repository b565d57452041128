#include "ucp/cm/channel.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "uct/tcp/socket.hpp"

namespace ucp::cm {

namespace {

// A peer whose host is gone is found within a minute; nothing else would tell.
void keep_alive(int fd) noexcept {
    const auto set = [fd](int level, int option, int value) {
        static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 20);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 6);
}

}  // namespace

channel::channel(ucs::unique_fd socket) noexcept : socket_(std::move(socket)) {
    keep_alive(socket_.get());
}

channel::attempt channel::connect(const uct::tcp::socket_address& to,
                                  const uct::tcp::socket_address& from) noexcept {
    attempt made;
    ucs::unique_fd socket = uct::tcp::open_stream(to.data()->sa_family);
    if (!socket) {
        made.error = errno;
        return made;
    }
    made.socket = channel(std::move(socket));
    if (from.data()->sa_family != AF_UNSPEC) {
        const int yes = 1;
        static_cast<void>(
            ::setsockopt(made.socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
        if (::bind(made.socket.fd(), from.data(), from.size()) != 0) {
            made.error = errno;
            return made;
        }
    }
    if (::connect(made.socket.fd(), to.data(), to.size()) != 0 && errno != EINPROGRESS) {
        made.refused = errno;
    }
    return made;
}

int channel::connect_error() const noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

channel::input channel::read(inbox& into) const noexcept {
    for (;;) {
        const std::span<std::byte> space = into.space();
        const ssize_t got = ::recv(fd(), space.data(), space.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return input::nothing_yet;
        if (got <= 0) return input::end;
        switch (into.filled(static_cast<std::size_t>(got))) {
            case inbox::result::frame:
                return input::frame;
            case inbox::result::malformed:
                return input::nonsense;
            case inbox::result::incomplete:
                break;
        }
    }
}

bool channel::send(std::span<const std::byte> frame) const noexcept {
    return ::send(fd(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(frame.size());
}

// Where these do not get through, the end of the socket says nearly as much.
void channel::send_refusal(wire::reason why) const noexcept {
    static_cast<void>(send(wire::header{.kind = wire::kind::refusal, .reason = why}.pack()));
    // A socket that is closed with bytes unread is reset, and what was sent may be lost with it.
    std::array<std::byte, wire::header_size + wire::max_body> rest;
    static_cast<void>(::recv(fd(), rest.data(), rest.size(), MSG_DONTWAIT));
}

void channel::send_established() const noexcept {
    static_cast<void>(send(wire::header{.kind = wire::kind::established}.pack()));
}

}  // namespace ucp::cm
