// Predicted time of the engine's collectives, for the choice of algorithms and for simulations.
#pragma once

#include "ucg/schedule/call.hpp"
#include "ucg/schedule/link_cost.hpp"

namespace ucg::schedule {

// The properties of a call that decide about its time. `bytes` are those of `call::count`. If
// blocks differ in size, `total` is the sum of all and `largest` the longest.
struct node_shape {
    collective kind = collective::barrier;
    rank_t ranks = 1;
    double bytes = 0;
    double total = 0;
    double largest = 0;
};
// If the collective needs counts, `args` must have them. Every rank of the node gets the same
// result.
[[nodiscard]] node_shape node_shape_of(const call& args, rank_t ranks) noexcept;

// Seconds, of the rank that has most to do, from the moment when the last rank calls.
struct node_duration {
    double waiting = 0;
    double copying = 0;
    double reducing = 0;

    [[nodiscard]] double total() const noexcept { return waiting + copying + reducing; }
};
[[nodiscard]] node_duration node_cost_of(const node_shape& shape,
                                         const node_cost_params& price) noexcept;

}  // namespace ucg::schedule
