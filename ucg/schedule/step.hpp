// One thing that an algorithm asks its fabric for, and what waits for it.
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

// What a coroutine waits for: so many steps, or other coroutines, to end. Lies in the frame of
// whoever waits. Owner context.
struct gate {
    std::uint32_t open = 0;          // what has not ended
    std::uint64_t time = 0;          // free for the fabric, which sets it to 0 before the first use
    std::coroutine_handle<> waiter;  // empty while nobody waits

    // One less. Returns who goes on now; empty: nobody.
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

// Lies in the frame of the algorithm that asked, and stays where it is from fabric::post() to
// operation::complete(); so do the bytes that it names. Owner context.
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

    // Where the operation keeps the steps under way.
    step* next = nullptr;
    step* previous = nullptr;

    // Free for the fabric while it has the step.
    step* neighbour = nullptr;
    void* state = nullptr;
};

}  // namespace ucg::schedule
