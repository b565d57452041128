// Transports of the connection manager: the means by which client and server first connect.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ucp::cm {

enum class transport : std::uint8_t { rdmacm, tcp };

[[nodiscard]] std::string_view name(transport value) noexcept;

// Value of UCX_SOCKADDR_TLS_PRIORITY: names of transports in the order in which they are tried;
// "all" stands for those that were not named.
struct transport_list {
    std::vector<transport> order;

    // Returns the usable transports; rdmacm only if the context uses RDMA devices.
    [[nodiscard]] std::vector<transport> usable(bool has_rdma_devices) const;
};

}  // namespace ucp::cm
