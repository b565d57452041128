#include "ucp/stream/sends.hpp"

#include "ucp/core/complete.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/stream/endpoint.hpp"

namespace ucp {

// The new position is nearly always the last, or the first if a send resumes and has to wait again.
void stream_sends::block(request& send) noexcept {
    auto behind = blocked_.begin();
    while (behind != blocked_.end() && request::of(*behind).as<stream_send_state>().number <
                                           send.as<stream_send_state>().number)
        ++behind;
    blocked_.insert(behind, send.pending);
    send.state.send.blocked = true;
}

void stream_sends::unblock(request& send) noexcept {
    if (!std::exchange(send.state.send.blocked, false)) return;
    blocked_.erase(blocked_.iterator_to(send.pending));
}

void stream_sends::resume_first() {
    request& next = request::of(blocked_.front());
    unblock(next);
    defer_callbacks(next);
    run_send(next);
    allow_callbacks(next);
}

bool stream_sends::may_resume() noexcept {
    return !blocked_.empty() &&
           has_turn(request::of(blocked_.front()).as<stream_send_state>().number) &&
           (sent_ < limit_ || is_reader_gone(owner_));
}

// A send that ends here calls this again, see running_operations::check_flushes.
void stream_sends::resume() {
    if (std::exchange(resuming_, true)) return;
    while (may_resume())
        resume_first();
    resuming_ = false;
}

void stream_sends::raise_limit(std::uint64_t limit) {
    if (limit <= limit_) return;
    limit_ = limit;
    resume();
}

}  // namespace ucp
