// Many tasks at the same time, and many messages.
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
#include "ucg/schedule/task.hpp"

namespace ucg::schedule {

// co_await require(me, status): goes on where it is UCS_OK; else the operation has failed with it,
// on every rank, and this coroutine is not resumed any more.
class [[nodiscard]] require {
public:
    require(member& me, ucs_status_t status) noexcept : owner_(me.owner()), status_(status) {}

    [[nodiscard]] bool await_ready() const noexcept { return status_ == UCS_OK; }
    void await_suspend(std::coroutine_handle<>) const noexcept { owner_.fail(status_); }
    void await_resume() const noexcept {}

private:
    operation& owner_;
    ucs_status_t status_;
};

// As many tasks as are only known at run time: add() them, then `co_await crew` runs all of them at
// the same time and waits for their ends. Tasks that send to the same rank use channels of their
// own. Lies in the frame of the algorithm.
class [[nodiscard]] crew {
public:
    // Where there is no memory, ok() is false.
    explicit crew(std::size_t most) noexcept
        : tasks_(new (std::nothrow) task[most]), room_(tasks_ == nullptr ? 0 : most) {}
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    [[nodiscard]] ucs_status_t status() const noexcept {
        return tasks_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    // No more than were announced.
    void add(task&& one) noexcept {
        assert(count_ < room_);
        tasks_[count_++] = std::move(one);
    }

    bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> parent) noexcept {
        end_.open = static_cast<std::uint32_t>(count_ + 1);  // one is this function
        for (std::size_t i = 0; i < count_; ++i)
            tasks_[i].begin(end_).resume();
        (void)end_.close_one();
        if (end_.open != 0) end_.waiter = parent;
        return end_.open != 0;
    }
    void await_resume() noexcept {}

private:
    std::unique_ptr<task[]> tasks_;
    std::size_t room_;
    std::size_t count_ = 0;
    gate end_;
};

// As many flights as are only known at run time. Lies in the frame of the algorithm.
class flights {
public:
    explicit flights(std::size_t count) noexcept : all_(new (std::nothrow) flight[count]) {}

    [[nodiscard]] ucs_status_t status() const noexcept {
        return all_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    [[nodiscard]] flight& operator[](std::size_t i) noexcept { return all_[i]; }

private:
    std::unique_ptr<flight[]> all_;
};

}  // namespace ucg::schedule
