// Creation and options of the sockets of this transport.
#pragma once

#include "ucs/log/log.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/tcp/ip_address.hpp"
#include "uct/tcp/settings.hpp"

namespace uct::tcp {

extern const ucs::log::component log;

// Returns the text of an errno, as "Connection refused".
[[nodiscard]] const char* error_text(int error) noexcept;

// Returns a non-blocking stream socket of the family, or -1 and errno.
[[nodiscard]] ucs::unique_fd open_stream(int family) noexcept;

// Sets the options of a connection: no delay, keep-alive, buffer sizes. Options that the kernel
// refuses are logged and keep their values. `loopback`: the connection stays within the loopback
// device.
void tune(int fd, const settings& options, bool loopback) noexcept;

// Returns a socket that listens on `ip`, at a port of the configured range. Errors are logged.
[[nodiscard]] ucs::result<ucs::unique_fd> listen_on(const ip_address& ip, const settings& options);

// Returns the status with which endpoints end if their connection broke with this errno.
[[nodiscard]] ucs_status_t status_of_loss(int error) noexcept;

// The socket's own address.
[[nodiscard]] socket_address local_address(int fd) noexcept;

// The peer's address.
[[nodiscard]] socket_address remote_address(int fd) noexcept;

}  // namespace uct::tcp
