// Where the kernel sends what is addressed to somebody.
#pragma once

#include <string>

#include "ucs/net/ip_address.hpp"

namespace ucs::net {

// What the kernel would do with a packet.
struct route {
    enum class kind : std::uint8_t { none, local, forward, unknown } type = kind::none;
    std::uint32_t interface_index = 0;  // by which it leaves
    std::string interface_name{};
    std::string error{};  // why there is none
};

// Asks for routes; the kernel's table or a test's. Owner context.
class route_source {
public:
    virtual ~route_source() = default;
    // Route of a packet from `source`, which may be none, to `target`. `through`: only of those
    // that leave by the interface of that index; 0: the one that the kernel would take.
    virtual route find(const ip_address& source, const ip_address& target,
                       std::uint32_t through) = 0;
};

}  // namespace ucs::net
