// One collective on a described machine: how long it takes, why, and whether the result is right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/sim/machine.hpp"
#include "ucg/sim/path.hpp"
#include "ucs/type/result.hpp"

namespace ucg::sim {

struct experiment {
    schedule::collective what = schedule::collective::allreduce;
    // Size of `count` elements, as call.hpp says what that is of; rounded up to elements of 4
    // bytes.
    double bytes = 8;
    rank_t root = 0;
    schedule::tuning sizes;
    // What one rank's whole vector is cut down to in memory, in elements; at least one for each
    // rank where there were as many. Blocks of which each rank has one for each other are cut down
    // alike.
    std::uint64_t carried = 4096;
    // Ends it with an error; ns. Negative: nobody dies.
    double death = -1;
    rank_t victim = 0;
};

// What passed one port, in bytes as charged.
struct traffic {
    double out = 0;
    double in = 0;
};

struct outcome {
    ucs_status_t status = UCS_OK;  // the worst of all living ranks
    std::string wrong;             // empty: the result was checked and is right
    double seconds = 0;            // until the last rank ended
    rank_t last = 0;
    path why;                    // of that moment
    std::vector<traffic> nodes;  // between nodes, of each node's port
    double inside = 0;           // bytes inside nodes
    double weight = 1;           // bytes that each one in memory stands for
    std::uint64_t messages = 0;
    std::uint64_t events = 0;
};

// Runs it. An error where it could not begin: no memory. One thread; takes as long as it takes,
// about half a microsecond for each message.
[[nodiscard]] ucs::result<outcome> measure(const machine& on, const experiment& what,
                                           const schedule::algorithm& by);

// What algo::choose() needs to know of it.
[[nodiscard]] schedule::shape shape_of(const experiment& what,
                                       const schedule::placement& where) noexcept;

}  // namespace ucg::sim
