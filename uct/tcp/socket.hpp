// Creation and options of the sockets of this transport.
#pragma once

#include "ucs/log/log.hpp"
#include "ucs/net/socket.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/tcp/ip_address.hpp"
#include "uct/tcp/settings.hpp"

namespace uct::tcp {

inline constinit const ucs::log::component log{"uct.tcp"};

using ucs::net::error_text;
using ucs::net::local_address;
using ucs::net::open_stream;
using ucs::net::remote_address;

// Sets the options of a connection: no delay, keep-alive, buffer sizes. Options that the kernel
// refuses are logged and keep their values. `loopback`: the connection stays within the loopback
// device.
void tune(int fd, const settings& options, bool loopback) noexcept;

// Returns a socket that listens on `ip`, at a port of the configured range. Errors are logged.
[[nodiscard]] ucs::result<ucs::unique_fd> listen_on(const ip_address& ip, const settings& options);

// Returns the status with which endpoints end if their connection broke with this errno.
[[nodiscard]] ucs_status_t status_of_loss(int error) noexcept;

}  // namespace uct::tcp
