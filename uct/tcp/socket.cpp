#include "uct/tcp/socket.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <random>
#include <system_error>

#include "ucs/config/once.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"

namespace uct::tcp {

namespace {

void set(int fd, int level, int name, int value, const char* option_name) noexcept {
    if (::setsockopt(fd, level, name, &value, sizeof value) != 0) {
        ucs::log::diag(log, "setsockopt({}, {}) on descriptor {}: {}; the kernel's value stays",
                       option_name, value, fd, error_text(errno));
    }
}

void set_buffer(int fd, int name, const ucs::config::memunits& wanted,
                const char* option_name) noexcept {
    if (wanted.is_auto()) return;
    set(fd, SOL_SOCKET, name, static_cast<int>(wanted.bytes), option_name);
    // The kernel doubles the given size for its own structures, and limits it silently.
    int doubled = 0;
    socklen_t length = sizeof doubled;
    if (::getsockopt(fd, SOL_SOCKET, name, &doubled, &length) != 0) return;
    const auto got = static_cast<std::size_t>(doubled) / 2;
    if (got < wanted.bytes && ucs::config::first_time(option_name)) {
        ucs::log::warn(log, "the kernel allows {} bytes for {}, not {}; see /proc/sys/net/core",
                       got, option_name, wanted.bytes);
    }
}

// The kernel accepts 1 to 127; 0 leaves the choice to the kernel, as everywhere in UCX.
void set_count(int fd, int name, ucs::config::auto_count wanted, const char* option_name) noexcept {
    if (wanted.is_auto() || wanted.value == 0) return;
    set(fd, IPPROTO_TCP, name, static_cast<int>(wanted.value), option_name);
}

// Sets whole seconds; auto (NaN) keeps the kernel's value.
void set_seconds(int fd, int name, const ucs::config::duration& wanted,
                 const char* option_name) noexcept {
    if (std::isnan(wanted.seconds)) return;
    set(fd, IPPROTO_TCP, name, static_cast<int>(std::ceil(wanted.seconds)), option_name);
}

void keep_alive(int fd, const settings& options) noexcept {
    if (std::isinf(options.keep_idle.seconds)) return;
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE");
    set_seconds(fd, TCP_KEEPIDLE, options.keep_idle, "TCP_KEEPIDLE");
    set_seconds(fd, TCP_KEEPINTVL, options.keep_interval, "TCP_KEEPINTVL");
    set_count(fd, TCP_KEEPCNT, options.keep_count, "TCP_KEEPCNT");
}

// Binds to a port of the range, starting at a random one to spread processes.
bool bind_in_range(int fd, const ip_address& ip, const port_range& ports) {
    const unsigned count = static_cast<unsigned>(ports.last - ports.first) + 1;
    const unsigned start = std::random_device{}() % count;
    for (unsigned i = 0; i < count; ++i) {
        const auto port = static_cast<std::uint16_t>(ports.first + (start + i) % count);
        const socket_address address(ip, port);
        if (::bind(fd, address.data(), address.size()) == 0) return true;
        if (errno != EADDRINUSE && errno != EACCES) return false;
    }
    return false;
}

}  // namespace

void tune(int fd, const settings& options, bool loopback) noexcept {
    set(fd, IPPROTO_TCP, TCP_NODELAY, options.no_delay ? 1 : 0, "TCP_NODELAY");
    set_count(fd, TCP_SYNCNT, options.syn_count, "TCP_SYNCNT");
    // Over loopback both sides copy through memory. By default the kernel lets megabytes wait
    // there, and they fall out of the cache.
    constexpr ucs::config::memunits cached{160 * 1024};
    const bool choose = loopback && options.send_buffer.is_auto();
    set_buffer(fd, SO_SNDBUF, choose ? cached : options.send_buffer, "SO_SNDBUF");
    set_buffer(fd, SO_RCVBUF, options.receive_buffer, "SO_RCVBUF");
    keep_alive(fd, options);
}

ucs::result<ucs::unique_fd> listen_on(const ip_address& ip, const settings& options) {
    ucs::unique_fd fd = open_stream(ip.family());
    // Buffer sizes take effect from the first packet, so they are set before a connection exists.
    if (fd) {
        set_buffer(fd.get(), SO_SNDBUF, options.send_buffer, "SO_SNDBUF");
        set_buffer(fd.get(), SO_RCVBUF, options.receive_buffer, "SO_RCVBUF");
        if (ip.family() == AF_INET6) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1, "IPV6_V6ONLY");
    }
    if (!fd || !bind_in_range(fd.get(), ip, options.ports) || ::listen(fd.get(), SOMAXCONN) != 0) {
        const int error = errno;
        // Only a warning, because the interface may have other addresses.
        ucs::log::warn(log, "cannot listen on {}, ports {}-{}: {}; peers will not reach it there",
                       ip.text(), options.ports.first, options.ports.last, error_text(error));
        return error == EADDRINUSE ? UCS_ERR_BUSY : UCS_ERR_IO_ERROR;
    }
    return fd;
}

ucs_status_t status_of_loss(int error) noexcept {
    const bool silent = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
    return silent ? UCS_ERR_ENDPOINT_TIMEOUT : UCS_ERR_CONNECTION_RESET;
}

}  // namespace uct::tcp
