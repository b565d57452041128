// The trace of a critical path: its steps one by one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ucg/schedule/call.hpp"
#include "ucg/sim/machine.hpp"

namespace ucg::sim {

enum class trace_kind : std::uint8_t { message, reduce, copy, node_collective };

struct trace_step {
    trace_kind kind = trace_kind::message;
    schedule::collective collective = schedule::collective::barrier;  // of a node collective
    bool between = false;                                             // a message from node to node
    rank_t rank = 0;          // rank on which the step ended
    rank_t from = 0;          // the sender
    std::uint64_t bytes = 0;  // bytes in memory
    time_t until = 0;
    double charged = 0;  // charged bytes
};

// Kept only if machine::trace is set. Traces of ranks and messages share their common beginning by
// reference counts, and copying a trace copies a pointer. Single-threaded.
class trace {
public:
    trace() = default;
    trace(const trace& other) noexcept : last_(other.last_) {
        if (last_ != nullptr) ++last_->owners;
    }
    trace(trace&& other) noexcept : last_(std::exchange(other.last_, nullptr)) {}
    trace& operator=(trace other) noexcept {
        std::swap(last_, other.last_);
        return *this;
    }
    ~trace() { release(last_); }

    void add(const trace_step& next) { last_ = new link{next, last_, 1}; }

    // The steps in the order of time.
    [[nodiscard]] std::vector<trace_step> steps() const {
        std::vector<trace_step> made;
        for (const link* each = last_; each != nullptr; each = each->before)
            made.push_back(each->step);
        return {made.rbegin(), made.rend()};
    }

private:
    struct link {
        trace_step step;
        link* before;
        std::uint32_t owners;
    };
    // Iterative, because traces are long.
    static void release(link* last) noexcept {
        while (last != nullptr && --last->owners == 0) {
            link* const before = last->before;
            delete last;
            last = before;
        }
    }
    link* last_ = nullptr;
};

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
