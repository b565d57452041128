// The table of all algorithms, and the choice of the cheapest one.
#pragma once

#include <span>
#include <string_view>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::algo {

// Returns the algorithms of one collective. Any thread.
[[nodiscard]] std::span<const schedule::algorithm> algorithms(
    schedule::collective collective) noexcept;

// Returns nullptr if the collective has no algorithm of that name.
[[nodiscard]] const schedule::algorithm* find(schedule::collective collective,
                                              std::string_view name) noexcept;

// Returns the fitting algorithm with the lowest predicted cost, the first one of equals. At least
// one algorithm fits each call. The choice depends only on values that are the same on every rank,
// so all ranks choose the same algorithm. Any thread.
[[nodiscard]] const schedule::algorithm& choose(const schedule::call& args,
                                                const schedule::shape& params,
                                                const schedule::link_cost& link,
                                                bool deterministic) noexcept;

}  // namespace ucg::algo
