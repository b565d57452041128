// The tcp transport: messages over TCP sockets, one interface per network device of the host.
#pragma once

#include "uct/api/component.hpp"

namespace uct {

[[nodiscard]] const component& tcp_component() noexcept;

}  // namespace uct
