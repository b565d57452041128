// Single copy between processes of one host by the kernel (Cross Memory Attach).
#pragma once

#include "uct/api/component.hpp"

namespace uct::cma {

[[nodiscard]] const component& cma_component() noexcept;

}  // namespace uct::cma
