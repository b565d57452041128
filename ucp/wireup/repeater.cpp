#include "ucp/wireup/repeater.hpp"

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/pairing.hpp"

namespace ucp::wireup {

request_repeater::request_repeater(worker& owner) noexcept
    : events_(owner.events()), interval_(owner.watch().interval()) {}

request_repeater::~request_repeater() {
    if (timer_ != 0) events_.remove_timer(timer_);
}

void request_repeater::add(ep& asking) noexcept {
    if (interval_ == 0) return;
    asking.unanswered_hook.unlink();
    waiting_.push_back(asking);
    if (timer_ != 0) return;
    timer_ = events_.add_timer(interval_, [this] { repeat_requests(); });
    if (timer_ == 0)
        ucs::log::error(wireup_log, "out of memory: connection requests are not repeated");
}

void request_repeater::repeat_requests() noexcept {
    list due;
    due.swap(waiting_);
    while (!due.empty()) {
        ep& asking = due.front();
        due.pop_front();
        // A request that still waits for room on the lane is not repeated.
        peer& asked = asking.remote();
        if (asked.lanes().is_open() && slot_of<pairing>(asked).is_open() &&
            asked.lanes().am().sent().queued > 0) {
            waiting_.push_back(asking);
        } else {
            repeat_request(asking);  // adds it again, if it still waits
        }
    }
    if (!waiting_.empty()) return;
    events_.remove_timer(timer_);
    timer_ = 0;
}

}  // namespace ucp::wireup
