// Loopback inside one worker: the smallest complete transport. Read it first.
#pragma once

#include "uct/api/component.hpp"

namespace uct {

[[nodiscard]] const component& self_component() noexcept;

}  // namespace uct
