// What came of operations that ran in the simulation.
#pragma once

#include <deque>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/experiment.hpp"
#include "ucg/sim/network.hpp"

namespace ucg::sim {

// Statuses and times of the living ranks, of which there is one operation each.
void judge(network& net, const std::deque<schedule::operation>& operations, outcome& result);
// What passed the ports, and how many messages and events there were.
void count_traffic(const network& net, outcome& result);

}  // namespace ucg::sim
