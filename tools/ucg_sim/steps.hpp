// The steps of a critical path as text.
#pragma once

#include <span>
#include <string>

#include "ucg/sim/trail.hpp"

namespace tools::ucg_sim {

// One line for each step, or for several that repeat. `weight`: bytes that each one in memory
// stands for.
[[nodiscard]] std::string steps_text(std::span<const ucg::sim::trail_step> steps, double weight);

}  // namespace tools::ucg_sim
