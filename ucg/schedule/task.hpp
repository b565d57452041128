// The coroutine type of algorithms.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "ucg/schedule/step.hpp"

namespace ucg::schedule {

class member;
class program;

// An algorithm of one rank: `task name(member& me, …)`, also as a function of a program. `me` also
// determines where the frame is allocated. The task begins when it is awaited, and ends by
// co_return.
//
// A task returns no status. If a step fails, the operation resumes no coroutine any more, waits
// until the fabric has ended all steps, and destroys the frames from the outermost inwards. So
// destructors release the resources of an algorithm, and its code has no branches for errors. The
// frame that awaits the task, or the operation, owns it. Owner context.
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

    // True if there was no memory for the frame. The operation has then failed.
    [[nodiscard]] bool empty() const noexcept { return !frame_; }
    [[nodiscard]] bool done() const noexcept { return frame_ && frame_.done(); }

    // Returns the handle for the first resumption. The task calls end.decrement() at its end. For
    // classes that await tasks.
    [[nodiscard]] inline std::coroutine_handle<> begin(completion_counter& end) noexcept;

    // Begins the task and waits for its end.
    inline auto operator co_await() noexcept;

private:
    explicit task(handle frame) noexcept : frame_(frame) {}

    handle frame_;
};

struct task::promise_type {
    struct at_end {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(handle ended) noexcept {
            const std::coroutine_handle<> next = ended.promise().end->decrement();
            return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
    };

    completion_counter* end = nullptr;

    task get_return_object() noexcept { return task(handle::from_promise(*this)); }
    static task get_return_object_on_allocation_failure() noexcept { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    at_end final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    static void* allocate(std::size_t bytes, member& me) noexcept;
    static void release(void* frame) noexcept;

    // The parameters are those of the coroutine. Always inlined, because g++ otherwise warns that a
    // template operator new does not match an operator delete that is not a template.
    template<class... More>
    [[gnu::always_inline]] static inline void* operator new(std::size_t bytes, member& me,
                                                            More&...) noexcept {
        return allocate(bytes, me);
    }
    template<class... More>
    [[gnu::always_inline]] static inline void* operator new(std::size_t bytes, const program&,
                                                            member& me, More&...) noexcept {
        return allocate(bytes, me);
    }
    [[gnu::always_inline]] static inline void operator delete(void* frame) noexcept {
        release(frame);
    }
};

inline std::coroutine_handle<> task::begin(completion_counter& end) noexcept {
    if (!frame_)
        return std::noop_coroutine();  // the counter stays above 0, so no coroutine is resumed
    frame_.promise().end = &end;
    return frame_;
}

inline auto task::operator co_await() noexcept {
    struct awaiter {
        task& child;
        completion_counter end;

        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
            end.pending = 1;
            end.waiter = parent;
            return child.begin(end);
        }
        void await_resume() noexcept {}
    };
    return awaiter{*this, {}};
}

// co_await both(first, second): runs two tasks at the same time. If they send to the same ranks,
// they must use different channels.
class [[nodiscard]] both {
public:
    both(task& first, task& second) noexcept : first_(first), second_(second) {}
    both(const both&) = delete;
    both& operator=(const both&) = delete;

    bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> parent) noexcept {
        end_.pending = 3;  // this function counts as well, because tasks may end before it does
        first_.begin(end_).resume();
        second_.begin(end_).resume();
        (void)end_.decrement();
        if (end_.pending != 0) end_.waiter = parent;
        return end_.pending != 0;
    }
    void await_resume() noexcept {}

private:
    task& first_;
    task& second_;
    completion_counter end_;
};

// One rank's part in an exchange in which all ranks of a group take part. It holds its own
// arguments and memory, and outlives the operations that run it. Owner context.
class program {
public:
    program() = default;
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    virtual ~program() = default;

    // Returns the coroutine, which has not begun. Called once for each start.
    [[nodiscard]] virtual task run(member& me) noexcept = 0;

    // Returns a hash of the arguments that must be the same on all ranks, for callers that compare
    // it. 0: there is nothing to compare, for example because this rank's arguments are invalid.
    [[nodiscard]] virtual std::uint64_t form() const noexcept { return 0; }
};

}  // namespace ucg::schedule
