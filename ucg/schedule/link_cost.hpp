// What predictions of times are made from.
#pragma once

#include "ucg/schedule/node_segments.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// One kind of link by the parameters of LogGP, in seconds.
struct link_price {
    double latency = 4e-7;      // of a message without content, overheads of both sides included
    double per_byte = 5e-11;    // of a message's content
    double per_message = 1e-7;  // processor time of one more message while others are under way
    double gap = 0;             // the least time that a message occupies a port
};

// What the collectives of a node's shared memory take (action::together), in seconds.
struct node_price {
    double flag = 2e-7;  // until another rank sees what one wrote
    double look = 3e-8;  // at one more rank's flag
    double copy_byte = 5e-11;
    double reduce_byte = 5e-11;  // of result, of two sources

    // As the engine is tuned.
    node_segments cutting{};
    double direct_bytes = 32 * 1024;
    rank_t direct_ranks = 2;
};

// Links between nodes, and work of a processor; where nodes have several ranks, what is inside.
struct link_cost {
    double latency = 1e-6;        // of a message without content, overheads of both sides included
    double per_byte = 1e-10;      // of a message's content
    double reduce_byte = 5e-11;   // of each byte of result that two sources are reduced into
    double copy_byte = 5e-11;     // of each byte copied
    double per_message = 2.5e-7;  // processor time of one more message while others are under way
    double gap = 0;               // the least time that a message occupies a port
    link_price inside{};
    node_price node{};
};

}  // namespace ucg::schedule
