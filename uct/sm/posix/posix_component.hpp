// The posix transport: active messages through shared memory of one host.
#pragma once

#include "uct/api/component.hpp"

namespace uct::posix {

[[nodiscard]] const component& posix_component() noexcept;

}  // namespace uct::posix
