// Resource list of the transports within a host.
#pragma once

#include <string>

#include "uct/api/component.hpp"

namespace uct::sm {

// Returns the one resource of such a transport, usable unless there is a reason against it.
[[nodiscard]] inline listing list_memory(const char* transport, std::string reason) {
    constexpr const char* device = "memory";
    if (reason.empty()) {
        return {.usable = {{transport, device, device_type::shared_memory}}, .unusable = {}};
    }
    return {.usable = {},
            .unusable = {{transport, device, device_type::shared_memory, std::move(reason)}}};
}

}  // namespace uct::sm
