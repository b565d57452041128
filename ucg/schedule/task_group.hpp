// A group of tasks that run at the same time.
#pragma once

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "ucg/schedule/flight.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/schedule/step.hpp"
#include "ucg/schedule/task.hpp"
#include "ucs/type/status.h"

namespace ucg::schedule {

// For a number of tasks that is known only at run time. The algorithm adds the tasks by add(); then
// `co_await` runs all of them at the same time and waits for their ends. Tasks that send to the
// same rank must use different channels. Lies in the frame of the algorithm.
class [[nodiscard]] task_group {
public:
    // If there is no memory, status() returns UCS_ERR_NO_MEMORY.
    explicit task_group(std::size_t capacity) noexcept
        : tasks_(new (std::nothrow) task[capacity]), capacity_(tasks_ == nullptr ? 0 : capacity) {}
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    [[nodiscard]] ucs_status_t status() const noexcept {
        return tasks_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    // The caller must add at most `capacity` tasks.
    void add(task&& child) noexcept {
        assert(count_ < capacity_);
        tasks_[count_++] = std::move(child);
    }

    bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> parent) noexcept {
        end_.pending = static_cast<std::uint32_t>(count_ + 1);  // this function counts as well
        for (std::size_t i = 0; i < count_; ++i)
            tasks_[i].begin(end_).resume();
        (void)end_.decrement();
        if (end_.pending != 0) end_.waiter = parent;
        return end_.pending != 0;
    }
    void await_resume() noexcept {}

private:
    std::unique_ptr<task[]> tasks_;
    std::size_t capacity_;
    std::size_t count_ = 0;
    completion_counter end_;
};

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
