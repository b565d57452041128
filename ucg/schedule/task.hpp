// The coroutine type of algorithms.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

class member;

// An algorithm of one rank: `task name(member& me, …)`, whose first parameter also says where its
// frame is allocated. It begins when it is awaited, and ends by co_return.
//
// No status is returned: where a step fails, the operation resumes nobody any more, waits until the
// fabric is done with all steps, and destroys the frames from the outermost inwards. So what an
// algorithm holds is released by destructors, and its code has no branch for errors.
// Owner: the frame that awaits it, or the operation. Owner context.
class [[nodiscard]] task {
public:
    struct promise_type;
    using handle = std::coroutine_handle<promise_type>;

    task() = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~task() {
        if (frame_) frame_.destroy();
    }

    // No memory was there for the frame; the operation has failed.
    [[nodiscard]] bool empty() const noexcept { return !frame_; }
    [[nodiscard]] bool done() const noexcept { return frame_ && frame_.done(); }

    // The first resumption; `end` is closed by one at the end. For whoever awaits tasks.
    [[nodiscard]] inline std::coroutine_handle<> begin(gate& end) noexcept;

    // Begins and waits for the end.
    inline auto operator co_await() noexcept;

private:
    explicit task(handle frame) noexcept : frame_(frame) {}

    handle frame_;
};

struct task::promise_type {
    struct at_end {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(handle ended) noexcept {
            const std::coroutine_handle<> next = ended.promise().end->close_one();
            return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
    };

    gate* end = nullptr;

    task get_return_object() noexcept { return task(handle::from_promise(*this)); }
    static task get_return_object_on_allocation_failure() noexcept { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    at_end final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    static void* allocate(std::size_t bytes, member& me) noexcept;
    static void release(void* frame) noexcept;

    // The parameters are those of the coroutine. Inlined even where nothing is optimized, because
    // g++ takes a template of operator new and an operator delete that is none for a mismatch.
    template<class... More>
    [[gnu::always_inline]] static inline void* operator new(std::size_t bytes, member& me,
                                                            More&...) noexcept {
        return allocate(bytes, me);
    }
    [[gnu::always_inline]] static inline void operator delete(void* frame) noexcept {
        release(frame);
    }
};

inline std::coroutine_handle<> task::begin(gate& end) noexcept {
    if (!frame_) return std::noop_coroutine();  // the gate stays open: nobody goes on
    frame_.promise().end = &end;
    return frame_;
}

inline auto task::operator co_await() noexcept {
    struct awaiter {
        task& child;
        gate end;

        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
            end.open = 1;
            end.waiter = parent;
            return child.begin(end);
        }
        void await_resume() noexcept {}
    };
    return awaiter{*this, {}};
}

// co_await both(first, second): runs two tasks at the same time; they should use different channels
// where they send to the same ranks.
class [[nodiscard]] both {
public:
    both(task& first, task& second) noexcept : first_(first), second_(second) {}
    both(const both&) = delete;
    both& operator=(const both&) = delete;

    bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> parent) noexcept {
        end_.open = 3;  // the third is this function: tasks may end before it does
        first_.begin(end_).resume();
        second_.begin(end_).resume();
        (void)end_.close_one();
        if (end_.open != 0) end_.waiter = parent;
        return end_.open != 0;
    }
    void await_resume() noexcept {}

private:
    task& first_;
    task& second_;
    gate end_;
};

}  // namespace ucg::schedule
