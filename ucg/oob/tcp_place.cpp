#include "ucg/oob/tcp_place.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucs/sys/descriptor_budget.hpp"

namespace ucg::oob {
namespace {

using ucs::net::ip_address;
using ucs::net::socket_address;

std::vector<socket_address> look_up(const tcp_place& place, int flags, std::string& why_not) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* list = nullptr;
    const int error =
        ::getaddrinfo(place.host.c_str(), fmt::format("{}", place.port).c_str(), &wanted, &list);
    if (error != 0) {
        why_not = error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error);
        return {};
    }
    std::vector<socket_address> found;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
        const socket_address at(each->ai_addr, each->ai_addrlen);
        if (!at.ip().is_none()) found.push_back(at);
    }
    ::freeaddrinfo(list);
    if (found.empty()) why_not = "no address of IPv4 or IPv6";
    return found;
}

bool is_loopback(const ip_address& ip) {
    const auto bytes = ip.bytes();
    if (ip.family() == AF_INET) return bytes[0] == std::byte{127};
    constexpr std::byte one[16] = {{}, {}, {}, {}, {}, {}, {}, {},
                                   {}, {}, {}, {}, {}, {}, {}, std::byte{1}};
    return std::memcmp(bytes.data(), one, sizeof one) == 0;
}

std::vector<socket_address> places_to_listen(const tcp_place& place) {
    std::string none;
    // A host's own name is often a loopback address to the host itself and to nobody else.
    const bool is_name = place.host != "localhost";
    const auto meant = look_up(place, is_name ? AI_NUMERICHOST : 0, none);
    std::vector<socket_address> places;
    for (const socket_address& each : meant)
        if (is_loopback(each.ip())) places.push_back(each);
    if (!places.empty()) return places;
    const std::byte zero[16] = {};
    return {socket_address(ip_address::v6(std::span<const std::byte, 16>(zero), 0), place.port),
            socket_address(ip_address::v4(std::span<const std::byte, 4>(zero, 4)), place.port)};
}

// errno says why there is none.
ucs::unique_fd listen_at(const socket_address& at) {
    ucs::unique_fd socket = ucs::sys::within_budget(
        ucs::unique_fd(::socket(at.ip().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
    if (!socket) return {};
    const int yes = 1, no = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at.ip().family() == AF_INET6)
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (::bind(socket.get(), at.data(), at.size()) != 0 || ::listen(socket.get(), SOMAXCONN) != 0)
        return {};
    return socket;
}

}  // namespace

std::string tcp_place::text() const {
    const bool is_v6 = host.find(':') != host.npos;
    return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::vector<socket_address> tcp_place::resolve(std::string& why_not) const {
    return look_up(*this, 0, why_not);
}

ucs::result<ucs::unique_fd> tcp_place::listen() const {
    int why = 0;
    for (const socket_address& each : places_to_listen(*this)) {
        ucs::unique_fd socket = listen_at(each);
        if (socket) return socket;
        why = errno;
        // Another address of the same port would not be what the others connect to.
        if (why == EADDRINUSE) break;
    }
    if (why == EADDRINUSE) {
        ucs::log::error(oob_log,
                        "rank 0 cannot listen at port {}: somebody does already; choose another "
                        "port for all ranks (MASTER_PORT or UCG_OOB_PORT)",
                        port);
        return UCS_ERR_BUSY;
    }
    ucs::log::error(oob_log, "rank 0 cannot listen at {}: {}", text(), std::strerror(why));
    return UCS_ERR_IO_ERROR;
}

std::uint16_t port_of(int fd) noexcept {
    socket_address at;
    return ::getsockname(fd, at.data(), at.size_to_fill()) == 0 ? at.port() : std::uint16_t{0};
}

}  // namespace ucg::oob
