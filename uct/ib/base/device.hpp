// RDMA devices of this host.
#pragma once

#include <string>
#include <vector>

#include "ucs/type/result.hpp"
#include "uct/api/component.hpp"
#include "uct/ib/base/handle.hpp"

namespace uct::ib {

// A port of a device: a resource of every transport on verbs. "mlx5_0:1"
struct port_name {
    std::string device;
    std::uint8_t port = 1;

    [[nodiscard]] std::string text() const { return device + ":" + std::to_string(port); }
    // Nothing when it is no such name.
    [[nodiscard]] static std::optional<port_name> parse(std::string_view text);
};

// Failures are logged. The context does not block when events are read from it.
ucs::result<context_handle> open_device(const std::string& name);

// Every port of every device, for the transport `name`, as the kernel's files describe them: no
// device is opened, which takes a card some 10 ms and memory of its driver. What only libibverbs
// could tell, that it has no driver for a device, therefore shows when the device is opened.
[[nodiscard]] listing list_ports(const char* name);
// The same without looking for libibverbs, by the files below a folder.
[[nodiscard]] listing list_ports(const char* name, const std::string& root);

}  // namespace uct::ib
