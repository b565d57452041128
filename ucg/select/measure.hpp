// Measurement of the cost of messages and of work within nodes.
#pragma once

#include <string>
#include <vector>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::select {

// In seconds. NaN: this rank has not measured it.
struct message_sample {
    double latency;
    double per_byte;
    double per_message;
};
struct work_sample {
    double copy_byte;
    double reduce_byte;
};
// The samples of one rank, in the sense of schedule::link_cost.
struct price_sample {
    message_sample between;  // nodes
    message_sample inside;   // a node
    work_sample alone;       // of one rank on its own data
    work_sample node;        // of the node's engine
    double flag;             // likewise
};

// An operation whose output (`call::into`) is one price_sample of each rank. Each rank measures its
// own work. The first ranks of neighbouring nodes, and then the first two ranks of each node,
// exchange messages. Then each node does some collectives on its engine. All ranks get all samples.
// It takes some hundred latencies and some 100 KB of traffic.
[[nodiscard]] const schedule::algorithm& measurement(const schedule::placement& placement) noexcept;
[[nodiscard]] schedule::call measuring(const schedule::placement& placement,
                                       std::vector<price_sample>& into);

// Stores the medians of the samples in `links`; values without samples stay.
void adopt(const std::vector<price_sample>& measured, schedule::link_cost& links);

// Describes the costs in one line, for people.
[[nodiscard]] std::string text_of(const schedule::link_cost& links);

}  // namespace ucg::select
