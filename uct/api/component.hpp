// A transport as it can be found on this machine.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ucs/topology/place.hpp"
#include "uct/api/iface.hpp"

namespace uct {

enum class device_type : std::uint8_t { self, shared_memory, network, simulated };

// A transport on a device that works here.
struct resource {
    std::string transport;  // "tcp"
    std::string device;     // "eth0"; "memory" for shared memory
    device_type type = device_type::network;
    ucs::topology::place place = {};
    bool paired = false;  // endpoints come in pairs, see ep::pack_connection
    bool rdma = false;    // a device that connections are made to by rdmacm, too
};

// A transport on a device that does not work here, and why, in words for people.
struct unusable_resource {
    std::string transport;
    std::string device;
    device_type type = device_type::network;
    std::string reason;
};

struct listing {
    std::vector<resource> usable;
    std::vector<unusable_resource> unusable;
};

// Finds and opens the interfaces of one transport. Stateless; one object per transport, listed in
// base/registry.cpp. Any thread.
class component {
public:
    virtual ~component() = default;
    [[nodiscard]] virtual const char* name() const noexcept = 0;

    // Options of the transport; several transports may list the same table.
    [[nodiscard]] virtual std::vector<const ucs::config::table*> options() const = 0;

    // Devices here, usable and not. Cheap: no thread, no file left behind, under a millisecond.
    [[nodiscard]] virtual listing query(const ucs::config::source& config) const = 0;

    // The memory that peers reach on this device; nullptr where they need none, or find it by its
    // address. Failures are logged.
    virtual ucs::result<std::shared_ptr<memory_domain>> open_domain(
        const resource& where, const ucs::config::source& config) const;

    virtual ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                                     const iface_params& params) const = 0;
};

}  // namespace uct
