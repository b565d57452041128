// Low-latency dispatch or combine on a described machine.
#pragma once

#include "ucg/sim/moe_experiment.hpp"

namespace ucg::sim {

// What measure() does for these two; `what` was checked. std::bad_alloc.
[[nodiscard]] ucs::result<moe_outcome> measure_low_latency(const machine& on,
                                                           const moe_experiment& what);

}  // namespace ucg::sim
