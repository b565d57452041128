#include "ucp/core/schedule.hpp"

namespace ucp {

namespace {

// The shortest time between two polls of the event loop.
constexpr ucs::time::nanoseconds event_pause = 10 * ucs::time::microsecond;
// The longest sleep of a worker that waits for a peer to connect.
constexpr ucs::time::nanoseconds longest_nap = 10 * ucs::time::millisecond;

}  // namespace

bool schedule::may_poll_events() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    if (now < events_due_) return false;
    events_due_ = now + event_pause;
    return true;
}

ucs_status_t schedule::arm() noexcept {
    if (connecting_ > 0 && nap_ == 0)
        nap_ = events_.add_timer(
            longest_nap, [this] { nap_ = 0; }, true);
    const ucs_status_t status = events_.arm();
    asleep_ = asleep_ || status == UCS_OK;
    return status;
}

void schedule::end_sleep() noexcept {
    if (--sleepers_ > 0) return;
    asleep_ = false;
    clear_wakeup();
}

void schedule::wake_up() noexcept {
    asleep_ = false;
    events_.latch_wake();
}

}  // namespace ucp
