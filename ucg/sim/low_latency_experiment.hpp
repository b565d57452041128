// Runs a low-latency dispatch or combine on a simulated machine.
#pragma once

#include "ucg/sim/moe_experiment.hpp"

namespace ucg::sim {

// Carries out measure() for these two exchanges. The caller has validated `setup`. Throws
// std::bad_alloc.
[[nodiscard]] ucs::result<moe_outcome> measure_low_latency(const machine& spec,
                                                           const moe_experiment& setup);

}  // namespace ucg::sim
