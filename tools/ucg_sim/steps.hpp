// Formats the steps of a simulated collective's critical path as text (ucg_sim --steps).
#pragma once

#include <span>
#include <string>

#include "ucg/sim/trace.hpp"

namespace tools::ucg_sim {

// Returns one line for each step, or for a sequence of steps that repeats.
[[nodiscard]] std::string steps_text(std::span<const ucg::sim::trace_step> steps);

}  // namespace tools::ucg_sim
