// The async thread: one event loop with a thread that sleeps in it.
#pragma once

#include <atomic>
#include <functional>

#include "ucs/async/event_loop.hpp"

namespace ucs::async {

// A thread that runs an event loop and functions posted to it. It starts with the first post, has
// every signal blocked, and is joined by stop() or the destructor. In a child made by fork() the
// thread does not exist: the next post starts a new one with an empty loop, and descriptors and
// functions from before the fork stay with the parent. Any thread may post; stop() must not run
// concurrently with post(), nor on the async thread.
class thread {
public:
    using function = std::function<void(event_loop&)>;

    constexpr thread() noexcept = default;
    thread(const thread&) = delete;
    thread& operator=(const thread&) = delete;
    ~thread() { stop(); }

    // Runs `work` on the thread, after everything posted before it.
    ucs_status_t post(function work);

    // Posts `work` and returns after it has run. On the async thread itself, `work` runs at once.
    ucs_status_t run(function work);

    // Runs the posted functions, ends the thread and destroys the loop. A later post starts a new
    // thread.
    void stop() noexcept;

    // Returns whether a thread of this process runs.
    [[nodiscard]] bool running() const noexcept;

    // Returns whether the caller is the async thread.
    [[nodiscard]] bool is_current() const noexcept;

private:
    struct worker;
    [[nodiscard]] worker* live() const noexcept;
    result<worker*> ensure();

    // A forked child does not touch the parent's worker, which may be in the middle of a change.
    std::atomic<worker*> current_{nullptr};
};

}  // namespace ucs::async
