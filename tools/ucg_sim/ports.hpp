// Formats the traffic of each node's port as text (--ports).
#pragma once

#include <span>
#include <string>

#include "ucg/sim/experiment.hpp"

namespace tools::ucg_sim {

// Returns one line for each node, or for consecutive nodes with equal traffic.
[[nodiscard]] std::string ports_text(std::span<const ucg::sim::traffic> nodes);

}  // namespace tools::ucg_sim
