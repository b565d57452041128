// The tcp transport sends messages over TCP sockets. It has one interface for each network device
// of the host.
#pragma once

#include "uct/api/component.hpp"

namespace uct {

[[nodiscard]] const component& tcp_component() noexcept;

}  // namespace uct
