// Watches listening sockets in an event loop, and pauses while connections cannot be accepted.
#pragma once

#include <functional>
#include <vector>

#include "ucs/async/event_loop.hpp"

namespace ucs::async {

// A listening socket stays readable while connections wait in the kernel's queue, which would keep
// the event loop busy and its thread awake. An owner that cannot accept therefore pauses the watch.
// Owner context.
class listener_watch {
public:
    using accept_function = std::function<void(int listener)>;

    static constexpr time::nanoseconds pause_length = 100 * time::millisecond;

    // Calls `accept` whenever a listener is readable. `accept` may call the functions below.
    listener_watch(event_loop& events, accept_function accept)
        : events_(events), accept_(std::move(accept)) {}
    listener_watch(const listener_watch&) = delete;
    listener_watch& operator=(const listener_watch&) = delete;
    ~listener_watch() { stop(); }

    // Starts to watch these sockets, which must stay open until stop(). Returns UCS_OK or
    // UCS_ERR_NO_MEMORY.
    ucs_status_t start(std::vector<int> listeners) noexcept;
    void stop() noexcept;

    // Stops watching the listeners for pause_length, or until resume(). If there is no memory for
    // the timer that ends the pause, the watch continues.
    void pause() noexcept;
    // Ends the pause if there is one, because its reason may be over.
    void resume() noexcept;

    // While `on`, peers stay in the kernel's queue.
    void hold(bool on) noexcept;
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }

private:
    bool watch() noexcept;
    void unwatch() noexcept;

    event_loop& events_;
    const accept_function accept_;
    std::vector<int> listeners_;
    event_loop::timer_id pause_ = 0;  // 0: no pause
    bool is_watching_ = false;
    bool is_held_ = false;
};

}  // namespace ucs::async
