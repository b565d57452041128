#include "ucg/core/agreement.hpp"

#include <new>
#include <utility>

#include "ucg/core/group.hpp"

namespace ucg {

void agreement::compare(request& what) noexcept {
    what.stopped = UCS_OK;
    queue_.push_back(what);
    go_on();
}

// Some end as soon as they begin: the next one's turn comes here, and not within their end.
void agreement::go_on() noexcept {
    if (std::exchange(going_on_, true)) return;
    while (!queue_.empty() && !begun_) {
        begun_ = true;
        begin();
    }
    going_on_ = false;
}

void agreement::begin() noexcept {
    request& first = queue_.front();
    round_.emplace(group_.over(), group_.frames());
    round_->on_end(on_end, this);
    try {
        what_.init(group_.size(), first.says(), first.deals());
        round_->init(what_);
    } catch (const std::bad_alloc&) {
        // The round has its number all the same, and so has what is compared.
        if (first.stopped == UCS_OK) first.stopped = UCS_ERR_NO_MEMORY;
    }
    // Who was stopped while it waited does not wait for the others, who may never come.
    if (first.stopped != UCS_OK)
        round_->start_failed(first.stopped);
    else
        round_->start();
}

void agreement::on_end(schedule::operation& ended, void* self) noexcept {
    auto& of = *static_cast<agreement*>(self);
    request& first = of.queue_.front();
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

void agreement::leave(request& ended) noexcept {
    if (!ended.compared_hook.is_linked()) return;
    queue_.erase(queue_.iterator_to(ended));
    begun_ = false;
}

void agreement::stop(request& what, ucs_status_t why) noexcept {
    if (&what == &queue_.front() && begun_)
        round_->fail(why);
    else
        what.stopped = why;
}

}  // namespace ucg
