// What client and server can first meet over.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ucp::cm {

enum class carrier : std::uint8_t { rdmacm, tcp };

[[nodiscard]] std::string_view name(carrier which) noexcept;

// Value of UCX_SOCKADDR_TLS_PRIORITY: names of carriers, the first to be tried first; "all" stands
// for those that were not named.
struct carrier_list {
    std::vector<carrier> order;

    // Those that can be used; rdmacm only where the context uses RDMA devices.
    [[nodiscard]] std::vector<carrier> usable(bool has_rdma_devices) const;
};

}  // namespace ucp::cm
