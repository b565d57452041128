// Runs one collective on a simulated machine: how long it takes, which steps take the time, and
// whether the result is correct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/sim/machine.hpp"
#include "ucg/sim/trace.hpp"
#include "ucs/type/result.hpp"

namespace ucg::sim {

struct experiment {
    schedule::collective kind = schedule::collective::allreduce;
    // Bytes of `count` elements, where call.hpp defines what `count` counts. Rounded up to elements
    // of 4 bytes.
    double bytes = 8;
    rank_t root = 0;
    schedule::tuning sizes;
    // Number of elements of a rank's whole vector that memory holds, at least one for each rank if
    // the vector has as many. Blocks that each rank has for each other rank are scaled down alike.
    std::uint64_t carried = 4096;
    // Virtual time in ns when `victim` dies, which ends the collective with an error. Negative: no
    // rank dies.
    double death = -1;
    rank_t victim = 0;
};

// Traffic through one port, in charged bytes.
struct traffic {
    double out = 0;
    double in = 0;
};

struct outcome {
    ucs_status_t status = UCS_OK;  // an error of any living rank
    std::string wrong;             // the first error found in the result; empty: the result is
                                   // correct
    double seconds = 0;            // virtual time when the last rank ended
    rank_t last = 0;
    path critical_path;             // the critical path that ended at that time
    std::vector<trace_step> steps;  // steps of the critical path, if machine::trace is set
    std::vector<traffic> nodes;     // traffic of each node's port to other nodes
    double inside = 0;              // charged bytes of messages inside nodes
    double weight = 1;              // bytes that each byte in memory stands for
    std::uint64_t messages = 0;
    std::uint64_t events = 0;
};

// Runs the experiment. Fails only if it cannot begin (UCS_ERR_NO_MEMORY). Single-threaded; takes
// about half a microsecond of real time for each message.
[[nodiscard]] ucs::result<outcome> measure(const machine& spec, const experiment& setup,
                                           const schedule::algorithm& algorithm);

// The arguments that algo::choose() needs for this experiment.
[[nodiscard]] schedule::shape shape_of(const experiment& setup,
                                       const schedule::placement& placement) noexcept;

}  // namespace ucg::sim
