#include "tools/perf/net/socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

constexpr int connect_timeout_ms = 10'000;

[[noreturn]] void fail(std::string_view activity) {
    throw failure(fmt::format("{}: {}", activity, std::strerror(errno)));
}

void set_option(int fd, int level, int name, int value) {
    if (::setsockopt(fd, level, name, &value, sizeof(value)) != 0) {
        fail(fmt::format("setsockopt({}, {}, {}) of the control connection", level, name, value));
    }
}

using address_list = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

address_list resolve(const std::string& host, std::uint16_t port, bool ipv6) {
    addrinfo hints{};
    hints.ai_family = ipv6 ? AF_INET6 : AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (error != 0) {
        throw failure(fmt::format("host {} has no {} address: {}", host, ipv6 ? "IPv6" : "IPv4",
                                  ::gai_strerror(error)));
    }
    return {found, &::freeaddrinfo};
}

// Returns 0 or an errno value.
int connect_within_timeout(int fd, const addrinfo& to) {
    if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    pollfd waiting{fd, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, connect_timeout_ms);
    if (ready == 0) return ETIMEDOUT;
    int error = 0;
    socklen_t length = sizeof(error);
    if (ready < 0 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
    return error;
}

ucs::unique_fd new_socket(int family, int flags) {
    ucs::unique_fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
    if (!fd) fail("socket");
    return fd;
}

}  // namespace

void make_control_socket(int fd) {
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) fail("fcntl(O_NONBLOCK)");
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 3);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    // Data is sent every few seconds, and the kernel does not send keepalive probes while it waits
    // for an acknowledgement of data. This limit equals that of the probes.
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 14'000);
}

ucs::unique_fd listen_on(std::uint16_t port, bool ipv6) {
    ucs::unique_fd fd = new_socket(ipv6 ? AF_INET6 : AF_INET, SOCK_NONBLOCK);
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_in any4{};
    any4.sin_family = AF_INET;
    any4.sin_port = htons(port);
    sockaddr_in6 any6{};
    any6.sin6_family = AF_INET6;
    any6.sin6_port = htons(port);
    const auto* address =
        ipv6 ? reinterpret_cast<const sockaddr*>(&any6) : reinterpret_cast<const sockaddr*>(&any4);
    if (::bind(fd.get(), address, ipv6 ? sizeof(any6) : sizeof(any4)) != 0 ||
        ::listen(fd.get(), SOMAXCONN) != 0) {
        fail(fmt::format("cannot listen on TCP port {}", port));
    }
    return fd;
}

ucs::unique_fd connect_to(const std::string& host, std::uint16_t port, bool ipv6) {
    const address_list addresses = resolve(host, port, ipv6);
    int error = EHOSTUNREACH;
    for (const addrinfo* to = addresses.get(); to != nullptr; to = to->ai_next) {
        ucs::unique_fd fd = new_socket(to->ai_family, SOCK_NONBLOCK);
        error = connect_within_timeout(fd.get(), *to);
        if (error != 0) continue;
        make_control_socket(fd.get());
        return fd;
    }
    throw failure(
        fmt::format("cannot connect to {} port {}: {}", host, port, std::strerror(error)));
}

}  // namespace tools::perf
