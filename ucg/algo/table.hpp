// All algorithms, and the choice among them.
#pragma once

#include <span>
#include <string_view>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::algo {

// Those of one collective. Any thread.
[[nodiscard]] std::span<const schedule::algorithm> algorithms(schedule::collective what) noexcept;

// nullptr: there is none of that name.
[[nodiscard]] const schedule::algorithm* find(schedule::collective what,
                                              std::string_view name) noexcept;

// The one with the lowest predicted cost of those that fit; the first of equal ones. There always
// is one. What all ranks know alike decides, so all choose the same. Any thread.
[[nodiscard]] const schedule::algorithm& choose(const schedule::call& what,
                                                const schedule::shape& of,
                                                const schedule::link_cost& link,
                                                bool deterministic) noexcept;

}  // namespace ucg::algo
