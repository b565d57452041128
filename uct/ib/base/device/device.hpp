// List and opening of the RDMA devices of this host.
#pragma once

#include <string>
#include <vector>

#include "ucs/type/result.hpp"
#include "uct/api/component.hpp"
#include "uct/ib/base/device/handle.hpp"

namespace uct::ib {

// A port of a device, which is a resource of every transport on verbs. Written as "mlx5_0:1".
struct port_name {
    std::string device;
    std::uint8_t port = 1;

    [[nodiscard]] std::string text() const { return device + ":" + std::to_string(port); }
    // Returns nothing if the text is no such name.
    [[nodiscard]] static std::optional<port_name> parse(std::string_view text);
};

// Failures are logged. Reading events from the context does not block.
ucs::result<context_handle> open_device(const std::string& name);

// Lists every port of every device, for the transport `name`, from the kernel's files. No device is
// opened, because opening a card takes some 10 ms and memory of its driver. If libibverbs has no
// driver for a device, this shows only when the device is opened.
[[nodiscard]] listing list_ports(const char* name);
// The same without looking for libibverbs, from the files below a folder.
[[nodiscard]] listing list_ports(const char* name, const std::string& root);

}  // namespace uct::ib
