// List of the transports of this build.
#pragma once

#include <span>

#include "uct/api/component.hpp"

namespace uct {

// Returns every built-in transport: those that carry messages, nearest first, then those of
// accelerators. An explicit list, no static constructors.
[[nodiscard]] std::span<const component* const> builtin_components() noexcept;

}  // namespace uct
