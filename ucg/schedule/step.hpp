// A step: one request of an algorithm to its fabric, and the gate on which a coroutine waits for
// it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ucg/schedule/numbering.hpp"

namespace ucg::schedule {

using rank_t = std::uint32_t;
using channel_t = std::uint16_t;

class operation;
class reducer;
struct call;

// `together`: a collective of the ranks that share this rank's node.
enum class action : std::uint8_t { send, receive, reduce, copy, together };

// A completion counter: a coroutine waits until `open` steps or other coroutines have ended. Lies
// in the frame of the waiting coroutine. Owner context.
struct gate {
    std::uint32_t open = 0;          // number of steps and coroutines that have not ended
    std::uint64_t time = 0;          // for use by the fabric; 0 before the first use
    std::coroutine_handle<> waiter;  // empty while no coroutine waits

    // Decrements the counter. Returns the coroutine to resume, or an empty handle.
    [[nodiscard]] std::coroutine_handle<> close_one() noexcept {
        return --open == 0 ? std::exchange(waiter, nullptr) : nullptr;
    }
};

// Operands of a reduce step: into[i] = from[0][i] op from[1][i] op …, in this order.
struct reduction {
    static constexpr std::size_t max_sources = 4;

    const reducer* how = nullptr;
    const void* from[max_sources] = {};
    std::size_t sources = 0;
    std::size_t count = 0;  // elements
    bool last = false;      // nothing is reduced into these elements later
};

// Lies in the frame of the algorithm. The step and the bytes that it refers to must stay valid from
// fabric::post() to operation::complete(). Owner context.
struct step {
    action what = action::send;
    channel_t channel = 0;
    rank_t peer = 0;             // of a message
    const void* from = nullptr;  // send, copy
    void* into = nullptr;        // receive, copy, reduce
    std::size_t bytes = 0;
    const reduction* work = nullptr;  // reduce
    const call* asked = nullptr;      // together
    gate* of = nullptr;
    operation* owner = nullptr;

    // Links of the operation's list of steps in flight.
    step* next = nullptr;
    step* previous = nullptr;

    // For use by the fabric while it has the step.
    step* neighbour = nullptr;
    void* state = nullptr;
};

}  // namespace ucg::schedule
