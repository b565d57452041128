// When progress does which part of its work, and the sleep of threads.
#pragma once

#include "ucs/async/event_loop.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

// Every call of progress polls the interfaces that take only memory loads; the slow part of
// progress runs once in some calls, and polls the event loop even less often. Part of the worker;
// owner context.
class schedule {
public:
    // The event loop (new connections, liveness) is polled once in so many calls of progress.
    static constexpr unsigned event_turns = 128;

    explicit schedule(ucs::async::event_loop& events) noexcept : events_(events) {}

    // --- progress ---
    // Counts a call of progress that has found so many events. Returns whether its slow part is
    // due.
    [[nodiscard]] bool is_slow_turn(unsigned found) noexcept {
        // An idle worker has time to look for new connections; a busy one must be fast.
        turn_ += found == 0 ? idle_weight : 1;
        return turn_ >= slow_turn_;
    }
    void set_slow_turn(unsigned calls) noexcept { slow_turn_ = calls; }
    // Returns whether the event loop is due in this slow part, as it is when nothing else is
    // polled.
    [[nodiscard]] bool is_event_turn(bool is_all) noexcept {
        until_events_ += turn_;
        turn_ = 0;
        if (until_events_ < event_turns && !is_all) return false;
        until_events_ = 0;
        return true;
    }
    // Polling the event loop is a system call, which takes as long as a message: a worker that
    // waits for messages does not poll again within some time.
    [[nodiscard]] bool may_poll_events() noexcept;
    // The next progress runs its slow part.
    void repeat_slow_part() noexcept { turn_ = slow_turn_; }
    // Does the same for new work, and wakes a sleeping thread.
    void hurry() noexcept {
        repeat_slow_part();
        note_work();
    }
    // Makes the next progress check descriptors and timers as well.
    void look_everywhere() noexcept {
        repeat_slow_part();
        until_events_ = event_turns;
        events_due_ = 0;
    }
    // Does the same, and wakes a sleeping thread.
    void request_full_progress() noexcept {
        look_everywhere();
        note_work();
    }

    // --- sleeping (ucp/wakeup waits) ---
    // Wakes sleeping threads, because there is work for progress, or the event that they wait for
    // may have come in another thread's progress.
    void note_work() noexcept {
        if (asleep_) [[unlikely]]
            wake_up();
    }
    // Returns whether the wakeup event is set for threads that have not woken yet, see
    // ucp/wakeup/wait.cpp.
    [[nodiscard]] bool is_waking() const noexcept {
        return sleepers_ > 0 && events_.is_wake_latched();
    }
    // The last part of worker::arm.
    [[nodiscard]] ucs_status_t arm() noexcept;
    // Begin and end of the sleep of a thread in ucp/wakeup.
    void begin_sleep() noexcept { ++sleepers_; }
    void end_sleep() noexcept;
    // A thread in ucp/wakeup is awake: clears the wakeup event unless other threads sleep.
    void clear_wakeup() noexcept {
        if (sleepers_ == 0) events_.release_wake();
    }
    // An endpoint begins to wait for its peer's reply (+1), or has it (-1). While one waits, sleeps
    // are short: the peer may be a worker of the thread that sleeps.
    void note_connecting(int change) noexcept { connecting_ += change; }

private:
    static constexpr unsigned idle_weight = 4;  // weight of an idle call

    void wake_up() noexcept;

    unsigned turn_ = 0;
    unsigned slow_turn_ = 1;
    bool asleep_ = false;    // since arm(), until the first event
    unsigned sleepers_ = 0;  // threads in ucp/wakeup
    int connecting_ = 0;
    unsigned until_events_ = 0;
    ucs::time::nanoseconds events_due_ = 0;
    ucs::async::event_loop::timer_id nap_ = 0;
    ucs::async::event_loop& events_;
};

}  // namespace ucp
