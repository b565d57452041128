#include "ucg/core/agreement.hpp"

#include <new>
#include <utility>

#include "ucg/core/group.hpp"

namespace ucg {

void agreement::compare(request& request) noexcept {
    request.stopped = UCS_OK;
    queue_.push_back(request);
    start_next();
}

// Some operations end as soon as they begin. The next one is started here, and not within the end
// of the previous one.
void agreement::start_next() noexcept {
    if (std::exchange(starting_, true)) return;
    while (!queue_.empty() && !begun_) {
        begun_ = true;
        begin();
    }
    starting_ = false;
}

void agreement::begin() noexcept {
    request& first = queue_.front();
    round_.emplace(group_.fabric(), group_.frames());
    round_->on_end(on_end, this);
    try {
        comparison_.init(group_.size(), first.get_signature(), first.get_shares());
        round_->init(comparison_);
    } catch (const std::bad_alloc&) {
        // The round has its sequence number all the same, and so has the operation that is
        // compared.
        if (first.stopped == UCS_OK) first.stopped = UCS_ERR_NO_MEMORY;
    }
    // An operation that was stopped while it waited does not wait for other ranks, which may never
    // come.
    if (first.stopped != UCS_OK)
        round_->start_failed(first.stopped);
    else
        round_->start();
}

void agreement::on_end(schedule::runnable& ended, void* self) noexcept {
    auto& all = *static_cast<agreement*>(self);
    request& first = all.queue_.front();
    const ucs_status_t status = ended.status();
    const ucs_status_t verdict = status == UCS_OK ? all.comparison_.verdict() : UCS_OK;
    if (verdict != UCS_OK || first.uses_engine()) all.take_number();
    if (status != UCS_OK)
        first.skip(status);  // other ranks may have completed the comparison, and run it
    else if (verdict != UCS_OK)
        first.end(verdict);
    else
        first.run();
}

// A rank whose comparison failed cannot know the verdict of the others. So each compared operation
// takes one sequence number on every rank, even if it does not run, or runs on the node's engine,
// which has its own count.
void agreement::take_number() noexcept {
    placeholder_.emplace(group_.fabric(), group_.frames());
    placeholder_->init(no_steps_);
    placeholder_->start();
}

std::vector<schedule::rank_t> agreement::missing() const {
    return round_ ? round_->missing() : std::vector<schedule::rank_t>();
}

void agreement::leave(request& ended) noexcept {
    if (!ended.compared_hook.is_linked()) return;
    queue_.erase(queue_.iterator_to(ended));
    begun_ = false;
}

void agreement::stop(request& request, ucs_status_t why) noexcept {
    if (&request == &queue_.front() && begun_)
        round_->fail(why);
    else
        request.stopped = why;
}

}  // namespace ucg
