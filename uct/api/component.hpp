// Interface of a transport: lists its devices on this machine and opens interfaces.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ucs/topology/device_location.hpp"
#include "uct/api/iface.hpp"

namespace uct {

enum class device_type : std::uint8_t { self, shared_memory, network, accelerator, simulated };

// A transport on a device that is usable.
struct resource {
    std::string transport;  // "tcp"
    std::string device;     // "eth0"; "memory" for shared memory, "cuda" for GPUs
    device_type type = device_type::network;
    ucs::topology::device_location location = {};
    bool paired = false;  // endpoints come in pairs, see ep::pack_connection
    bool rdma = false;    // rdmacm can make connections to the device, too
};

// A transport on a device that is not usable, with the reason as text.
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

    // Lists the devices of this host, usable and not. Cheap: starts no thread, leaves no file,
    // takes less than a millisecond.
    [[nodiscard]] virtual listing query(const ucs::config::source& config) const = 0;

    // Opens the memory domain of the device. Returns nullptr if peers need no registered memory, or
    // access it by its address. Failures are logged.
    virtual ucs::result<std::shared_ptr<memory_domain>> open_domain(
        const resource& /*where*/, const ucs::config::source& /*config*/) const {
        return std::shared_ptr<memory_domain>();
    }

    virtual ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                                     const iface_params& params) const = 0;
};

}  // namespace uct
