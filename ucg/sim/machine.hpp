// Description of a simulated machine: ranks, nodes, links and costs.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::sim {

using schedule::rank_t;

// Virtual time in picoseconds: an exact integer, fine enough for the time of one byte on a fast
// link.
using time_t = std::uint64_t;
inline constexpr double per_second = 1e12;

// A kind of link, by the parameters of LogGP. Times in nanoseconds.
struct link_parameters {
    double latency;           // from the first byte's departure to its arrival
    double bandwidth;         // bytes per second, each way
    double send_overhead;     // processor time of a message at the sender
    double receive_overhead;  // processor time of a message at the receiver
    double gap = 0;           // minimum time that a message occupies a port
};

// A link inside a node belongs to two ranks. All ranks of a node share one port to other nodes,
// which passes one message at a time in each direction. Each rank has its own processor, which
// executes overheads, reductions and copies one after the other. Node collectives
// (action::node_collective) take the time of schedule::node_cost_of(), and all ranks of the node
// are busy for that time.
struct machine {
    rank_t ranks = 2;
    rank_t ranks_per_node = 1;  // rank r is on node r / ranks_per_node, if `nodes` is empty
    link_parameters inside{300, 20e9, 100, 100};
    link_parameters between{1500, 12.5e9, 250, 250};
    double reduce_rate = 20e9;  // bytes of result per second, reduced from two sources
    double copy_rate = 20e9;    // bytes per second
    double flag = 200;          // ns until a rank sees a flag that another rank of its node wrote
    double flag_read = 30;      // ns to read one more rank's flag

    // Number of bytes that each byte in memory stands for. More bytes are charged than moved, so
    // that thousands of ranks with megabytes each fit into memory.
    double weight = 1;
    // Messages of at most this size are charged without `weight`: headers, which memory holds
    // completely.
    std::uint64_t light = 0;

    [[nodiscard]] double charged(std::uint64_t bytes) const noexcept {
        return static_cast<double>(bytes) * (bytes <= light ? 1 : weight);
    }

    // Disorder for tests: random times between 0 and these limits (ns) are added to the latency of
    // each message and to the start of each rank.
    double max_delay = 0;
    double max_skew = 0;
    std::uint64_t seed = 1;

    // Reads sent data as late, and overwrites receive buffers with garbage as early, as the rules
    // allow, in order to catch algorithms that reuse their buffers too soon.
    bool strict = false;
    double detection = 1e6;  // ns from the death of a rank until the others detect it
    bool trace = false;      // keeps the steps of paths, which takes memory for each message

    // The name of each rank's node, for placements other than `ranks_per_node`.
    std::vector<std::uint64_t> nodes{};
};

// The placement of the ranks on nodes. Throws std::bad_alloc.
[[nodiscard]] schedule::placement placement_of(const machine& spec);

// The link costs from which algorithms predict their time on this machine.
[[nodiscard]] schedule::link_cost costs_of(const machine& spec) noexcept;

}  // namespace ucg::sim
