// Runs one program on each rank of a simulated network.
#pragma once

#include <deque>
#include <vector>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/experiment.hpp"
#include "ucg/sim/network.hpp"

namespace ucg::sim {

// Runs once; the members then give the results. Single-threaded.
class trial {
public:
    explicit trial(const machine& spec) : net(spec) {}

    // Runs one program for each rank. The programs outlive the trial.
    void run(const std::vector<schedule::program*>& programs) {
        for (rank_t rank = 0; rank < programs.size(); ++rank)
            operations.emplace_back(net.fabric(rank), net.frames()).init(*programs[rank]);
        for (schedule::operation& each : operations)
            each.start();
        net.run();
    }

    network net;
    std::deque<schedule::operation> operations;
};

// Records the statuses and end times of the living ranks. There is one operation for each rank.
void collect_results(network& net, const std::deque<schedule::operation>& operations,
                     outcome& result);
// Records the traffic of the ports and the numbers of messages and events.
void count_traffic(const network& net, outcome& result);

}  // namespace ucg::sim
