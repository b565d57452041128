// An event loop over file descriptors and timers. A worker polls it, or the async thread runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "ucs/time/clock.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::async {

// A set of file descriptors (epoll, level triggered) and timers with their handlers. A worker owns
// one and polls it in its progress; the async thread owns another and sleeps in it. Owner context,
// except that any thread may call wake() and latch_wake().
class event_loop {
public:
    using fd_handler = std::function<void(std::uint32_t epoll_events)>;
    using timer_handler = std::function<void()>;
    using timer_id = std::uint64_t;

    static result<std::unique_ptr<event_loop>> create();
    ~event_loop();

    // Watches fd for `epoll_events` (EPOLLIN, …). Handlers may add, modify and remove any
    // descriptor, including their own. If a handler throws, poll() logs it and continues.
    ucs_status_t add(int fd, std::uint32_t epoll_events, fd_handler handler) noexcept;
    ucs_status_t modify(int fd, std::uint32_t epoll_events);
    void remove(int fd) noexcept;

    // Calls `handler` every `interval` (only once if `once`), never early. Returns 0 if there is no
    // memory.
    timer_id add_timer(time::nanoseconds interval, timer_handler handler,
                       bool once = false) noexcept;
    void remove_timer(timer_id id) noexcept;

    // Runs the handlers of ready descriptors and due timers. Waits at most `timeout_ms` (0: does
    // not wait, -1: until an event). Returns the number of handlers called.
    unsigned poll(int timeout_ms);

    // Call this before sleeping on fd(). UCS_OK: poll() has nothing to do now, and fd() becomes
    // readable when it has, including for due timers. UCS_ERR_BUSY: call poll() first. Other
    // errors: there is no descriptor through which timers could wake the caller. After the first
    // call, timers make fd() readable.
    [[nodiscard]] ucs_status_t arm() noexcept;

    // Makes a waiting poll() return, and fd() readable until the next poll(), which calls the wake
    // handler if one is set.
    void wake() noexcept;
    // A wake-up that stays: makes fd() readable until the first poll() after release_wake(), or
    // until arm() has returned UCS_ERR_BUSY for it. A poll() by another thread does not clear it,
    // so the sleeping thread does not miss it.
    void latch_wake() noexcept;
    [[nodiscard]] bool is_wake_latched() const noexcept;
    void release_wake() noexcept;

    // Sets the wake handler. poll() calls it once after any number of wake() calls, and does not
    // count it in its result.
    void set_wake_handler(timer_handler handler);

    // An epoll descriptor that is readable whenever poll() would run a descriptor's handler. Timers
    // make it readable only after arm().
    [[nodiscard]] int fd() const noexcept;

    // The number of watched descriptors; 0 means that poll() only runs timers.
    [[nodiscard]] std::size_t size() const noexcept;

private:
    event_loop() noexcept;
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace ucs::async
