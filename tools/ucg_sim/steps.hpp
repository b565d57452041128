// The steps of a critical path as text.
#pragma once

#include <span>
#include <string>

#include "ucg/sim/trail.hpp"

namespace tools::ucg_sim {

// One line for each step, or for several that repeat.
[[nodiscard]] std::string steps_text(std::span<const ucg::sim::trail_step> steps);

}  // namespace tools::ucg_sim
