// The transports that this build has.
#pragma once

#include <span>

#include "uct/api/component.hpp"

namespace uct {

// Every built-in transport, nearest first. An explicit list, no static constructors.
[[nodiscard]] std::span<const component* const> builtin_components() noexcept;

}  // namespace uct
