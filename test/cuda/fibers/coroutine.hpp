// A function with a stack of its own, which runs until it suspends itself.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>

namespace fibers {

// Used by one OS thread. The destructor of a suspended coroutine does not unwind its stack: let the
// body return first.
class coroutine {
public:
    coroutine() = default;
    coroutine(const coroutine&) = delete;
    coroutine& operator=(const coroutine&) = delete;
    ~coroutine();

    // Runs the body until it suspends itself or returns. The first call starts it, on a stack from
    // a pool. The body throws no exception.
    void start(std::function<void()> body);
    void resume();
    // Returns to the caller of resume(). Called by the body.
    void suspend();

    [[nodiscard]] bool is_started() const noexcept { return is_started_; }
    [[nodiscard]] bool has_ended() const noexcept { return is_started_ && !inside_; }

private:
    // State that AddressSanitizer and ThreadSanitizer need at a change of stacks.
    struct sanitizer_state {
        const void* outside_bottom = nullptr;
        std::size_t outside_length = 0;
        void* outside_fake_stack = nullptr;
        void* outside_thread = nullptr;
        void* inside_fake_stack = nullptr;
        void* inside_thread = nullptr;
    };
    void before_entering() noexcept;
    void after_entering() noexcept;
    void before_leaving(bool is_last) noexcept;
    void after_leaving() noexcept;

    std::function<void()> body_;
    boost::context::fiber inside_;   // the suspended body
    boost::context::fiber outside_;  // the caller of resume(), while the body runs
    boost::context::stack_context stack_;
    sanitizer_state sanitizers_;
    bool is_started_ = false;
};

}  // namespace fibers
