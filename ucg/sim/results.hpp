// Collects the results of operations that ran in the simulation.
#pragma once

#include <deque>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/experiment.hpp"
#include "ucg/sim/network.hpp"

namespace ucg::sim {

// Records the statuses and end times of the living ranks. There is one operation for each rank.
void collect_results(network& net, const std::deque<schedule::operation>& operations,
                     outcome& result);
// Records the traffic of the ports and the numbers of messages and events.
void count_traffic(const network& net, outcome& result);

}  // namespace ucg::sim
