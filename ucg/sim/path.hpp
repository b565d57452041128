// Why something happened when it did.
#pragma once

#include <cstdint>

#include "ucg/sim/machine.hpp"

namespace ucg::sim {

// The chain of steps that a moment had to wait for, from the start of the simulation on, as sums:
// they add up to that moment. Each rank carries that of its processor, and each message that of
// its sender; where a rank waits for a message, the message's takes the place of its own. So the
// memory needed does not grow with the length of the chain.
struct path {
    time_t overhead = 0;  // of messages, at senders and receivers
    time_t latency = 0;  // of messages, and waiting for flags
    time_t transfer = 0;  // bytes through ports
    time_t queued = 0;    // waiting for a port that others used
    time_t reduce = 0;
    time_t copy = 0;
    time_t disorder = 0;  // random delays and late starts
    std::uint64_t messages = 0;
    std::uint64_t between = 0;   // of them, from node to node
    std::uint64_t meetings = 0;  // collectives of a node: their times are in those above

    [[nodiscard]] time_t total() const noexcept {
        return overhead + latency + transfer + queued + reduce + copy + disorder;
    }
};

}  // namespace ucg::sim
