// Option values with one size per kind of use: "8k" for all, or "intra:8k,inter:64k".
#pragma once

#include "ucs/config/option.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// One size for transports inside a host and one for transports of the network.
struct reach_size {
    ucs::config::memunits intra;
    ucs::config::memunits inter;

    [[nodiscard]] const ucs::config::memunits& for_scope(uct::scope reach) const noexcept {
        return reach == uct::scope::network ? inter : intra;
    }
};

// The size for host memory, from a list by memory type ("host:512K,cuda:4M").
struct host_size {
    static constexpr std::size_t unnamed = std::size_t{512}
                                           << 10;  // value when the list names other types only
    ucs::config::memunits size{unnamed};
};

}  // namespace ucp

namespace ucs::config {
template<>
const value_type& value_type_of<ucp::reach_size>();
template<>
const value_type& value_type_of<ucp::host_size>();
}  // namespace ucs::config
