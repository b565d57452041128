// What passed the port of each node as text.
#pragma once

#include <span>
#include <string>

#include "ucg/sim/experiment.hpp"

namespace tools::ucg_sim {

// One line for each node, or for neighbours that have the same.
[[nodiscard]] std::string ports_text(std::span<const ucg::sim::traffic> nodes);

}  // namespace tools::ucg_sim
