#include "ucg/core/agreement.hpp"

#include <algorithm>
#include <new>

#include "ucg/core/group.hpp"

namespace ucg {

void agreement::compare(request& what) noexcept {
    try {
        queue_.push_back({&what});
    } catch (const std::bad_alloc&) {
        what.end(UCS_ERR_NO_MEMORY);
        return;
    }
    if (queue_.size() == 1) begin();
}

void agreement::begin() noexcept {
    request& first = *queue_.front().which;
    try {
        round_.emplace(group_.over(), group_.frames());
        what_.init(group_.size(), first.says(), first.deals());
        round_->init(what_);
    } catch (const std::bad_alloc&) {
        first.end(UCS_ERR_NO_MEMORY);
        return;
    }
    round_->on_end(on_end, this);
    // Who was stopped while it waited does not wait for the others, who may never come.
    if (const ucs_status_t stopped = queue_.front().stopped; stopped != UCS_OK)
        round_->start_failed(stopped);
    else
        round_->start();
}

void agreement::on_end(schedule::operation& ended, void* self) noexcept {
    auto& of = *static_cast<agreement*>(self);
    request& first = *of.queue_.front().which;
    if (ended.status() != UCS_OK) {
        // Others may have heard all, and run it: it has its number here, too.
        first.skip(ended.status());
    } else if (of.what_.verdict() != UCS_OK) {
        of.take_number(of.what_.verdict());
        first.end(of.what_.verdict());
    } else {
        first.run();
    }
}

// Who did not hear all cannot know that nobody runs the operation, and has given it its number.
// It may be one for the node's engine here: so it is not the request that gets the number.
void agreement::take_number(ucs_status_t why) noexcept {
    not_run_.emplace(group_.over(), group_.frames());
    not_run_->start_failed(why);
}

std::vector<schedule::rank_t> agreement::missing() const {
    return round_ ? group_.missing(*round_) : std::vector<schedule::rank_t>();
}

void agreement::next(request& ended) noexcept {
    if (queue_.empty() || queue_.front().which != &ended) return;
    queue_.pop_front();
    if (!queue_.empty()) begin();
}

void agreement::stop(request& what, ucs_status_t why) noexcept {
    const auto found = std::ranges::find(queue_, &what, &entry::which);
    if (found == queue_.end()) return;
    if (found == queue_.begin())
        round_->fail(why);
    else
        found->stopped = why;
}

}  // namespace ucg
