// What messages and the work of nodes cost, found out by doing some.
#pragma once

#include <string>
#include <vector>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::select {

// In seconds; not a number: this rank measured nothing of the kind.
struct message_sample {
    double latency;
    double per_byte;
    double per_message;
};
struct work_sample {
    double copy_byte;
    double reduce_byte;
};
// As schedule::link_cost has them.
struct price_sample {
    message_sample between;  // nodes
    message_sample inside;   // a node
    work_sample alone;       // of one rank on its own data
    work_sample node;        // of the node's engine
    double flag;             // likewise
};

// An operation whose output (`call::into`) is a price_sample of each rank. Each rank measures its
// own work; the first ranks of neighbouring nodes, and then the first two ranks of each node, send
// messages to and fro; then each node does some collectives by its engine. All get to know what was
// found. Some hundred latencies, and some 100 KB of traffic.
[[nodiscard]] const schedule::algorithm& measurement(const schedule::placement& where) noexcept;
[[nodiscard]] schedule::call measuring(const schedule::placement& where,
                                       std::vector<price_sample>& into);

// The medians of what was measured, in `links`; as it was, where nothing was.
void adopt(const std::vector<price_sample>& measured, schedule::link_cost& links);

// One line for people.
[[nodiscard]] std::string text_of(const schedule::link_cost& links);

}  // namespace ucg::select
