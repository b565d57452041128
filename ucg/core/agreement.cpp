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
    const ucs_status_t status = ended.status();
    const ucs_status_t verdict = status == UCS_OK ? of.what_.verdict() : UCS_OK;
    if (verdict != UCS_OK || first.uses_engine()) of.take_number();
    if (status != UCS_OK)
        first.skip(status);  // others may have heard all, and run it
    else if (verdict != UCS_OK)
        first.end(verdict);
    else
        first.run();
}

// Who did not hear all cannot know what the others have found out. So each compared operation has
// one number on every rank, also where it does not run, or runs by the node's engine, which counts
// by itself.
void agreement::take_number() noexcept {
    in_its_place_.emplace(group_.over(), group_.frames());
    in_its_place_->init(no_steps_);
    in_its_place_->start();
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
