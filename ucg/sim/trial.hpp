// A network on which programs run.
#pragma once

#include <deque>
#include <vector>

#include "ucg/schedule/operation.hpp"
#include "ucg/sim/network.hpp"

namespace ucg::sim {

// Everything runs once; then it says how that went. One thread.
class trial {
public:
    explicit trial(const machine& like) : net(like) {}

    // One of each rank. They outlive the trial.
    void run(const std::vector<schedule::program*>& what) {
        for (rank_t rank = 0; rank < what.size(); ++rank)
            operations.emplace_back(net.of(rank), net.frames()).init(*what[rank]);
        for (schedule::operation& each : operations)
            each.start();
        net.run();
    }

    network net;
    std::deque<schedule::operation> operations;
};

}  // namespace ucg::sim
