// The critical path to a moment of the simulation: the steps it waited for.
#pragma once

#include <cstdint>

#include "ucg/sim/trace.hpp"

namespace ucg::sim {

// The chain of steps that a moment had to wait for, from the start of the simulation on, as sums
// that add up to that moment. Each rank carries the path of its processor, and each message carries
// the path of its sender. If a rank waits for a message, the message's path replaces its own. So
// memory does not grow with the length of the chain unless the steps are traced.
struct path {
    time_t overhead = 0;  // of messages at senders and receivers
    time_t latency = 0;   // of messages, and waiting for flags
    time_t transfer = 0;  // bytes through ports
    time_t queued = 0;    // waiting for a busy port
    time_t reduce = 0;
    time_t copy = 0;
    time_t disorder = 0;  // random delays and late starts
    std::uint64_t messages = 0;
    std::uint64_t between = 0;           // messages from node to node
    std::uint64_t node_collectives = 0;  // node collectives; the sums above contain their times

    trace steps;  // if machine::trace is set

    [[nodiscard]] time_t total() const noexcept {
        return overhead + latency + transfer + queued + reduce + copy + disorder;
    }
};

}  // namespace ucg::sim
