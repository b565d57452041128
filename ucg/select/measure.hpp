// What messages between nodes cost, found out by sending some.
#pragma once

#include <vector>

#include "ucg/schedule/algorithm.hpp"

namespace ucg::select {

// In seconds; not a number: this rank measured nothing.
struct link_sample {
    double latency;
    double per_byte;
};

// An operation whose output (`call::into`) is a link_sample of each rank. The first ranks of
// neighbouring nodes (placement) measure by sending messages to and fro; all get to know what they
// found. A few dozen latencies and some 100 KB of traffic.
extern const schedule::algorithm measure_links;
[[nodiscard]] schedule::call measuring(const schedule::placement& where,
                                       std::vector<link_sample>& into);

// The median of what was measured, in `links`; as it was, where nothing was.
void adopt(const std::vector<link_sample>& measured, schedule::link_cost& links);

}  // namespace ucg::select
