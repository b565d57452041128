// A task that runs while the one that began it goes on.
#pragma once

#include <cassert>
#include <utility>

#include "ucg/schedule/flight.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::schedule {

// Under way from begin(); `co_await it` waits for the end, and then it can be used again. Tasks
// that run at the same time and send to the same ranks use different channels. Lies in the frame of
// the algorithm, and has ended before that does.
class [[nodiscard]] beside {
public:
    beside() = default;
    beside(const beside&) = delete;
    beside& operator=(const beside&) = delete;

    void begin(member& me, task&& what) noexcept {
        assert(gate_.open == 0 || me.owner().failed());
        owner_ = &me.owner();
        child_ = std::move(what);
        gate_ = {2, 0, nullptr};  // the second is this function: the task may end before it does
        child_.begin(gate_).resume();
        (void)gate_.close_one();
    }

    gate_awaiter operator co_await() noexcept { return {gate_, owner_}; }

private:
    operation* owner_ = nullptr;
    task child_;
    gate gate_;
};

}  // namespace ucg::schedule
