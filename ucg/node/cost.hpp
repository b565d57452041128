// What the collectives of the engine take, for predictions and simulations.
#pragma once

#include "ucg/schedule/call.hpp"
#include "ucg/schedule/link_cost.hpp"

namespace ucg::node {

// A call as far as it decides about its time. Bytes are those of `call::count`; of blocks that
// differ `total` is the sum of all, and `largest` the longest.
struct asked {
    schedule::collective what = schedule::collective::barrier;
    schedule::rank_t ranks = 1;
    double bytes = 0;
    double total = 0;
    double largest = 0;
};
// `where` counts are needed they are there; every rank of the node gets the same.
[[nodiscard]] asked asked_by(const schedule::call& what, schedule::rank_t ranks) noexcept;

// Seconds, of the rank that has most to do, from the moment in which the last one calls.
struct duration {
    double waiting = 0;
    double copying = 0;
    double reducing = 0;

    [[nodiscard]] double total() const noexcept { return waiting + copying + reducing; }
};
[[nodiscard]] duration cost_of(const asked& what, const schedule::node_price& by) noexcept;

}  // namespace ucg::node
