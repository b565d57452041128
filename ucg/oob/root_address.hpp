// The address at which rank 0 listens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/net/ip_address.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::oob {

// A host's name or address, and a port. Value type.
struct root_address {
    std::string host;
    std::uint16_t port = 0;

    [[nodiscard]] std::string text() const;

    // Returns all addresses in the order in which to try them. Calls the resolver, which may block.
    // If the list is empty, `reason` explains it.
    [[nodiscard]] std::vector<ucs::net::socket_address> resolve(std::string& reason) const;

    // Returns a listening socket: on the loopback address if the host is one, otherwise on all
    // addresses of this host, because the name may resolve to another address on other hosts.
    // UCS_ERR_BUSY, UCS_ERR_IO_ERROR, with a line in the log.
    [[nodiscard]] ucs::result<ucs::unique_fd> listen() const;
};

// Returns the port to which a socket is bound.
[[nodiscard]] std::uint16_t port_of(int fd) noexcept;

}  // namespace ucg::oob
