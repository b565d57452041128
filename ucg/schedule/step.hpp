// A step: one request of an algorithm to its fabric, and the completion counter on which a
// coroutine waits for it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ucg/schedule/collective.hpp"
#include "ucg/schedule/sequence_numbers.hpp"

namespace ucg::schedule {

using channel_t = std::uint16_t;

class operation;
class reducer;
struct call;

// `node_collective`: a collective of the ranks that share this rank's node.
enum class action : std::uint8_t { send, receive, reduce, copy, node_collective };

// A completion counter: a coroutine waits until `pending` steps or other coroutines have ended.
// Lies in the frame of the waiting coroutine. Owner context.
struct completion_counter {
    std::uint32_t pending = 0;       // number of steps and coroutines that have not ended
    std::uint64_t time = 0;          // for use by the fabric; 0 before the first use
    std::coroutine_handle<> waiter;  // empty while no coroutine waits

    // Decrements the counter. Returns the coroutine to resume, or an empty handle.
    [[nodiscard]] std::coroutine_handle<> decrement() noexcept {
        return --pending == 0 ? std::exchange(waiter, nullptr) : nullptr;
    }
};

// Operands of a reduce step: into[i] = from[0][i] op from[1][i] op …, in this order.
struct reduction {
    static constexpr std::size_t max_sources = 4;

    const reducer* op = nullptr;
    const void* from[max_sources] = {};
    std::size_t sources = 0;
    std::size_t count = 0;  // elements
    bool last = false;      // nothing is reduced into these elements later
};

// Lies in the frame of the algorithm. The step and the bytes that it refers to must stay valid from
// fabric::post() to operation::complete(). Owner context.
struct step {
    action kind = action::send;
    channel_t channel = 0;
    rank_t peer = 0;             // of a message
    const void* from = nullptr;  // send, copy
    void* into = nullptr;        // receive, copy, reduce
    std::size_t bytes = 0;
    const reduction* operands = nullptr;  // reduce
    const call* node_call = nullptr;      // node_collective
    completion_counter* counter = nullptr;
    operation* owner = nullptr;

    // Links of the operation's list of steps in flight.
    step* next = nullptr;
    step* previous = nullptr;

    // For use by the fabric while it has the step.
    step* next_in_fabric = nullptr;
    void* state = nullptr;
};

// Steps in the order in which a fabric got them, linked by `next_in_fabric`.
struct step_queue {
    step* first = nullptr;
    step* last = nullptr;

    void append(step& added) noexcept {
        added.next_in_fabric = nullptr;
        (last != nullptr ? last->next_in_fabric : first) = &added;
        last = &added;
    }
    // Returns whether the step was in the queue.
    bool remove(step& removed) noexcept {
        step* before = nullptr;
        for (step* each = first; each != nullptr; before = each, each = each->next_in_fabric) {
            if (each != &removed) continue;
            (before != nullptr ? before->next_in_fabric : first) = removed.next_in_fabric;
            if (last == &removed) last = before;
            return true;
        }
        return false;
    }
};

}  // namespace ucg::schedule
