#include "ucg/oob/root_address.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/net/socket.hpp"

namespace ucg::oob {
namespace {

using ucs::net::ip_address;
using ucs::net::socket_address;

std::vector<socket_address> look_up(const root_address& root, int flags, std::string& reason) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* list = nullptr;
    const int error =
        ::getaddrinfo(root.host.c_str(), fmt::format("{}", root.port).c_str(), &wanted, &list);
    if (error != 0) {
        reason = error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error);
        return {};
    }
    std::vector<socket_address> found;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
        const socket_address address(each->ai_addr, each->ai_addrlen);
        if (!address.ip().is_none()) found.push_back(address);
    }
    ::freeaddrinfo(list);
    if (found.empty()) reason = "no address of IPv4 or IPv6";
    return found;
}

bool is_loopback(const ip_address& ip) {
    const auto bytes = ip.bytes();
    if (ip.family() == AF_INET) return bytes[0] == std::byte{127};
    constexpr std::byte one[16] = {{}, {}, {}, {}, {}, {}, {}, {},
                                   {}, {}, {}, {}, {}, {}, {}, std::byte{1}};
    return std::memcmp(bytes.data(), one, sizeof one) == 0;
}

std::vector<socket_address> listen_addresses(const root_address& root) {
    std::string none;
    // A host's own name often resolves to a loopback address on that host only.
    const bool is_name = root.host != "localhost";
    const auto resolved = look_up(root, is_name ? AI_NUMERICHOST : 0, none);
    std::vector<socket_address> addresses;
    for (const socket_address& each : resolved)
        if (is_loopback(each.ip())) addresses.push_back(each);
    if (!addresses.empty()) return addresses;
    const std::byte zero[16] = {};
    return {socket_address(ip_address::v6(std::span<const std::byte, 16>(zero), 0), root.port),
            socket_address(ip_address::v4(std::span<const std::byte, 4>(zero, 4)), root.port)};
}

}  // namespace

std::string root_address::text() const {
    const bool is_v6 = host.find(':') != host.npos;
    return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::vector<socket_address> root_address::resolve(std::string& reason) const {
    return look_up(*this, 0, reason);
}

ucs::result<ucs::unique_fd> root_address::listen() const {
    int error = 0;
    for (const socket_address& each : listen_addresses(*this)) {
        ucs::unique_fd socket = ucs::net::listen_at(each, true);
        if (socket) return socket;
        error = errno;
        // The other ranks would not connect to another address with the same port.
        if (error == EADDRINUSE) break;
    }
    if (error == EADDRINUSE) {
        ucs::log::error(oob_log,
                        "rank 0 cannot listen at port {}: the port is in use; choose another "
                        "port for all ranks (MASTER_PORT or UCG_OOB_PORT)",
                        port);
        return UCS_ERR_BUSY;
    }
    ucs::log::error(oob_log, "rank 0 cannot listen at {}: {}", text(), std::strerror(error));
    return UCS_ERR_IO_ERROR;
}

std::uint16_t port_of(int fd) noexcept {
    return ucs::net::local_address(fd).port();
}

}  // namespace ucg::oob
