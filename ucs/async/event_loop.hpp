// Descriptors and timers of one owner, polled by it or run by the async thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "ucs/time/clock.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::async {

// A set of file descriptors (epoll, level triggered) and timers with their handlers. A worker
// owns one and polls it from its progress; the async thread owns another and sleeps in it.
// Owner context only, but for wake() and ring(), which any thread may call.
class event_loop {
public:
    using fd_handler = std::function<void(std::uint32_t epoll_events)>;
    using timer_handler = std::function<void()>;
    using timer_id = std::uint64_t;

    static result<std::unique_ptr<event_loop>> create();
    ~event_loop();

    // Watches fd for `epoll_events` (EPOLLIN, …). Handlers may add, modify and remove any
    // descriptor, their own included. They do not throw.
    ucs_status_t add(int fd, std::uint32_t epoll_events, fd_handler handler) noexcept;
    ucs_status_t modify(int fd, std::uint32_t epoll_events);
    void remove(int fd) noexcept;

    // Calls `handler` every `interval` (once when `once`), no sooner than due. 0: no memory.
    timer_id add_timer(time::nanoseconds interval, timer_handler handler,
                       bool once = false) noexcept;
    void remove_timer(timer_id id) noexcept;

    // Dispatches what is ready, waiting at most `timeout_ms` (0: not at all, -1: until woken).
    // Returns the number of handlers called.
    unsigned poll(int timeout_ms);

    // Before sleeping on fd(). UCS_OK: poll has nothing to do now, and when it has, a timer that is
    // due included, fd() becomes readable. UCS_ERR_BUSY: call poll first. Otherwise the timers
    // cannot wake anybody, for want of a descriptor. From the first time on fd() shows timers.
    [[nodiscard]] ucs_status_t arm() noexcept;

    // Makes a poll that waits return, and fd() readable until the next poll, which calls the
    // handler for this, if there is one.
    void wake() noexcept;
    // Makes fd() readable until the poll that follows hear, or an arm, which is refused: polls of
    // other threads do not take that from whoever sleeps.
    void ring() noexcept;
    [[nodiscard]] bool rings() const noexcept;
    void hear() noexcept;

    // Runs in poll once after any number of wakes; its call does not count in poll's result.
    void set_wake_handler(timer_handler handler);

    // Readable whenever poll would dispatch a descriptor's handler (an epoll descriptor). Timers
    // show there after arm only.
    [[nodiscard]] int fd() const noexcept;

    // Number of descriptors watched; 0 means that poll has nothing but timers to do.
    [[nodiscard]] std::size_t size() const noexcept;

private:
    event_loop() noexcept;
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace ucs::async
