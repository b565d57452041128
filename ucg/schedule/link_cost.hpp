// The costs of links and of node collectives, from which times are predicted.
#pragma once

#include <cstddef>

#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

// A vector is cut into segments, so that one segment is copied while other ranks read the segment
// before. Segments are longer, up to the length of the contiguous slots, for long vectors (as a
// rank puts them into its slots) and for more than a few ranks, which may share cores. Longer
// segments mean fewer synchronizations and longer sequential accesses.
struct node_segments {
    std::size_t segment = 32 * 1024;  // bytes, at most
    std::size_t long_segment = 128 * 1024;
    std::size_t long_bytes = 1 << 20;
    rank_t few_ranks = 2;

    [[nodiscard]] bool are_long(double bytes, rank_t ranks) const noexcept {
        return bytes >= static_cast<double>(long_bytes) || ranks > few_ranks;
    }
};

// The LogGP parameters of one kind of link, in seconds.
struct loggp_params {
    double latency = 4e-7;      // of an empty message, including the overheads of both sides
    double per_byte = 5e-11;    // of a message's content
    double per_message = 1e-7;  // processor time of one more message while others are under way
    double gap = 0;             // minimum time that a message occupies a port
};

// The costs of collectives in a node's shared memory (action::node_collective), in seconds.
struct node_cost_params {
    double flag = 2e-7;       // until another rank sees a written flag
    double flag_read = 3e-8;  // reading the flag of one more rank
    double copy_byte = 5e-11;
    double reduce_byte = 5e-11;  // of each byte of the result of two sources

    // The tuning of the engine.
    node_segments cutting{};
    double direct_bytes = 32 * 1024;
    rank_t direct_ranks = 2;
};

// Costs of links between nodes and of a processor's work; `inside` and `node` apply to ranks that
// share a node.
struct link_cost {
    double latency = 1e-6;        // of an empty message, including the overheads of both sides
    double per_byte = 1e-10;      // of a message's content
    double reduce_byte = 5e-11;   // of each byte of result that two sources are reduced into
    double copy_byte = 5e-11;     // of each byte copied
    double per_message = 2.5e-7;  // processor time of one more message while others are under way
    double gap = 0;               // minimum time that a message occupies a port
    loggp_params inside{};
    node_cost_params node{};
};

}  // namespace ucg::schedule
