#include "tools/perf/net/socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "tools/common/failure.hpp"
#include "ucs/net/socket.hpp"

namespace tools::perf {
namespace {

constexpr int connect_timeout_ms = 10'000;

[[noreturn]] void fail(std::string_view activity) {
    throw failure(fmt::format("{}: {}", activity, std::strerror(errno)));
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
    return ready < 0 ? errno : ucs::net::connect_error(fd);
}

}  // namespace

void make_control_socket(int fd) {
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) fail("fcntl(O_NONBLOCK)");
    // Data is sent every few seconds, and the kernel does not send keepalive probes while it waits
    // for an acknowledgement of data. The timeout equals the limit of the probes.
    if (!ucs::net::make_lively(fd, {.idle = 5, .interval = 3, .probes = 3, .user_timeout = 14'000}))
        fail("setsockopt() of the control connection");
}

ucs::unique_fd listen_on(std::uint16_t port, bool ipv6) {
    using ucs::net::ip_address;
    constexpr std::array<std::byte, 16> any{};
    const auto ip = ipv6 ? ip_address::v6(any, 0) : ip_address::v4(std::span(any).first<4>());
    ucs::unique_fd fd = ucs::net::listen_at({ip, port});
    if (!fd) fail(fmt::format("cannot listen on TCP port {}", port));
    return fd;
}

ucs::unique_fd connect_to(const std::string& host, std::uint16_t port, bool ipv6) {
    const address_list addresses = resolve(host, port, ipv6);
    int error = EHOSTUNREACH;
    for (const addrinfo* to = addresses.get(); to != nullptr; to = to->ai_next) {
        ucs::unique_fd fd = ucs::net::open_stream(to->ai_family);
        if (!fd) fail("socket");
        error = connect_within_timeout(fd.get(), *to);
        if (error != 0) continue;
        make_control_socket(fd.get());
        return fd;
    }
    throw failure(
        fmt::format("cannot connect to {} port {}: {}", host, port, std::strerror(error)));
}

}  // namespace tools::perf
