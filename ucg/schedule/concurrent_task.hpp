// A task that runs concurrently with the task that began it.
#pragma once

#include <cassert>
#include <utility>

#include "ucg/schedule/flight.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg::schedule {

// Runs from begin() on. `co_await` waits for its end; afterwards the object can be used again.
// Tasks that run at the same time and send to the same ranks must use different channels. Lies in
// the frame of the algorithm and must have ended before the algorithm ends.
class [[nodiscard]] concurrent_task {
public:
    concurrent_task() = default;
    concurrent_task(const concurrent_task&) = delete;
    concurrent_task& operator=(const concurrent_task&) = delete;

    void begin(member& me, task&& child) noexcept {
        assert(counter_.pending == 0 || me.owner().failed());
        owner_ = &me.owner();
        child_ = std::move(child);
        counter_ = {
            2, 0,
            nullptr};  // this function counts as well, because the task may end before it does
        child_.begin(counter_).resume();
        (void)counter_.decrement();
    }

    completion_awaiter operator co_await() noexcept { return {counter_, owner_}; }

private:
    operation* owner_ = nullptr;
    task child_;
    completion_counter counter_;
};

}  // namespace ucg::schedule
