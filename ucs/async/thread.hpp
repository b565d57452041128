// The async thread: one event loop with a thread that sleeps in it.
#pragma once

#include <atomic>
#include <functional>

#include "ucs/async/event_loop.hpp"

namespace ucs::async {

// A thread that runs an event loop and functions posted to it. It starts with the first post, has
// every signal blocked, and is joined by stop() or the destructor. In a child made by fork() the
// thread does not exist: the next post starts a new one with an empty loop, and what was watched or
// posted before the fork stays with the parent. Any thread may post; stop() must not run at the
// same time as post() nor on the async thread.
class thread {
public:
    using function = std::function<void(event_loop&)>;

    constexpr thread() noexcept = default;
    thread(const thread&) = delete;
    thread& operator=(const thread&) = delete;
    ~thread() { stop(); }

    // Runs `work` on the thread, after everything posted before it.
    ucs_status_t post(function work);

    // The same, and returns when it has run. On the async thread itself it runs at once.
    ucs_status_t run(function work);

    // Runs what was posted, ends the thread and destroys the loop; a later post starts anew.
    void stop() noexcept;

    // True while a thread of this process runs.
    [[nodiscard]] bool running() const noexcept;

    // True on the async thread.
    [[nodiscard]] bool is_current() const noexcept;

private:
    struct worker;
    [[nodiscard]] worker* live() const noexcept;
    result<worker*> ensure();

    // A forked child leaves the parent's worker as it is: it may be half-way through a change.
    std::atomic<worker*> current_{nullptr};
};

}  // namespace ucs::async
