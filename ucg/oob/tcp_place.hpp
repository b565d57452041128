// Where rank 0 listens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucs/net/ip_address.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::oob {

// A host's name or address, and a port. Value type.
struct tcp_place {
    std::string host;
    std::uint16_t port = 0;

    [[nodiscard]] std::string text() const;

    // All addresses, in the order in which to try them. Asks the resolver, which may block. None:
    // `why_not` says why.
    [[nodiscard]] std::vector<ucs::net::socket_address> resolve(std::string& why_not) const;

    // A socket that listens there: on the loopback address if the host is one, else on all
    // addresses of this host, as the name may mean another of its addresses to the others.
    // UCS_ERR_BUSY, UCS_ERR_IO_ERROR, with a line in the log.
    [[nodiscard]] ucs::result<ucs::unique_fd> listen() const;
};

// The port that a socket is bound to.
[[nodiscard]] std::uint16_t port_of(int fd) noexcept;

}  // namespace ucg::oob
