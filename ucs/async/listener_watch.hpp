// Watches listening sockets by an event loop, with pauses while nothing can be accepted.
#pragma once

#include <functional>
#include <vector>

#include "ucs/async/event_loop.hpp"

namespace ucs::async {

// A listening socket stays readable as long as its owner leaves connections in the queue of the
// kernel, and so it keeps the event loop, and whoever sleeps on it, busy. So an owner that can
// accept nothing pauses the watch. Owner context.
class listener_watch {
public:
    using accept_function = std::function<void(int listener)>;

    static constexpr time::nanoseconds pause_length = 100 * time::millisecond;

    // `accept` is called whenever a listener is readable. It may call the functions below.
    listener_watch(event_loop& events, accept_function accept)
        : events_(events), accept_(std::move(accept)) {}
    listener_watch(const listener_watch&) = delete;
    listener_watch& operator=(const listener_watch&) = delete;
    ~listener_watch() { stop(); }

    // Watches these sockets from now on. They stay open until stop(). UCS_ERR_NO_MEMORY.
    ucs_status_t start(std::vector<int> listeners) noexcept;
    void stop() noexcept;

    // Does not look at the listeners for pause_length, or until resume(). Without memory for a
    // timer, by which the pause ends, they are watched on.
    void pause() noexcept;
    // The reason for the pause may be over: ends the pause if there is one.
    void resume() noexcept;

    // Leaves peers in the queue of the kernel until the owner calls it with `false`.
    void hold(bool on) noexcept;
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }

private:
    bool watch() noexcept;
    void unwatch() noexcept;

    event_loop& events_;
    const accept_function accept_;
    std::vector<int> listeners_;
    event_loop::timer_id pause_ = 0;  // 0: there is none
    bool is_watching_ = false;
    bool is_held_ = false;
};

}  // namespace ucs::async
