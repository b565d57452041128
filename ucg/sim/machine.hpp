// What a simulated machine is like.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/step.hpp"

namespace ucg::sim {

using schedule::rank_t;

// Virtual time in picoseconds: fine enough that a byte on a fast link has a length, and exact.
using time_t = std::uint64_t;
inline constexpr double per_second = 1e12;

// A kind of link, by the parameters of LogGP. Times in nanoseconds.
struct link_parameters {
    double latency;           // from the first byte's departure to its arrival
    double bandwidth;         // bytes per second, each way
    double send_overhead;     // processor time of a message at the sender
    double receive_overhead;  // and at the receiver
    double gap = 0;           // the least time that a message occupies a port, whatever its size
};

// A link inside a node belongs to two ranks; all ranks of a node share one port to the others, one
// message at a time each way. Each rank has a processor for itself, which does overheads,
// reductions and copies one after the other. Collectives of a node (action::together) take what
// node::cost_of() says, of which all ranks' processors are busy.
struct machine {
    rank_t ranks = 2;
    rank_t ranks_per_node = 1;  // rank r lies on node r / ranks_per_node, where `nodes` is empty
    link_parameters inside{300, 20e9, 100, 100};
    link_parameters between{1500, 12.5e9, 250, 250};
    double reduce_rate = 20e9;  // bytes of result per second, of two sources
    double copy_rate = 20e9;    // bytes per second
    double flag = 200;          // ns until a rank of the node sees what another one wrote
    double look = 30;           // ns for a look at one more rank's flag

    // Bytes that each carried byte stands for: what is charged is more than what is moved, so that
    // thousands of ranks with megabytes each fit into memory.
    double weight = 1;
    // Messages of up to so many bytes are charged for as they are: headers, of which all is there.
    std::uint64_t light = 0;

    [[nodiscard]] double charged(std::uint64_t bytes) const noexcept {
        return static_cast<double>(bytes) * (bytes <= light ? 1 : weight);
    }

    // Disorder, for tests: times from 0 to these (ns) are added to each message's latency and to
    // each rank's start.
    double max_delay = 0;
    double max_skew = 0;
    std::uint64_t seed = 1;

    // Reads what is sent as late and writes garbage into what is received as early as is allowed,
    // so that algorithms that reuse their buffers too soon are caught.
    bool strict = false;
    double detection = 1e6;  // ns from a death until others know
    bool trace = false;      // keeps the steps of paths: memory for each message

    // The name of each rank's node, for other placements.
    std::vector<std::uint64_t> nodes{};
};

// Which ranks share a node there. std::bad_alloc.
[[nodiscard]] schedule::placement placement_of(const machine& of);

// What the predictions of algorithms are made from on such a machine.
[[nodiscard]] schedule::link_cost costs_of(const machine& of) noexcept;

}  // namespace ucg::sim
