#include <algorithm>

#include "uct/base/log.hpp"
#include "uct/cuda/base/copy_issue.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

ucs_status_t copy_queue::flush(operation_list& owner, completion* done) noexcept {
    if (owner.empty()) return UCS_OK;
    operation* const fresh = take_free();
    if (fresh == nullptr) return report_no_copy_memory();
    fresh->done = done;
    fresh->is_flush = true;
    owner.add(*fresh);
    return UCS_INPROGRESS;
}

void copy_queue::end_part(operation* waiter, ucs_status_t status) noexcept {
    if (waiter == nullptr) return;
    if (waiter->status == UCS_OK) waiter->status = status;
    if (--waiter->pending == 0) ended_.push_back(*waiter);
}

void copy_queue::poll(context_streams& in, lane& on) noexcept {
    for (unsigned turn = 0; turn < limits_.events_per_turn && !on.in_flight.empty(); ++turn) {
        const CUresult outcome = driver_->cuEventQuery(on.in_flight.front().event.get());
        if (outcome == CUDA_ERROR_NOT_READY) return;
        // The copy may still run although the driver refuses to tell about it.
        if (outcome != CUDA_SUCCESS &&
            driver_->cuStreamSynchronize(on.stream.get()) != CUDA_SUCCESS) {
            check(outcome, "cuEventQuery");
            return in.note_failure(outcome);
        }
        end_part(in.take_event(on), UCS_OK);
    }
}

void copy_queue::poll(context_streams& in) noexcept {
    if (!in.is_alive()) return in.set_state(context_streams::condition::gone);
    const scoped_context current(*driver_, in.context());
    if (current.status() != CUDA_SUCCESS) {
        in.note_failure(current.status());
        if (in.state() != context_streams::condition::gone)
            check(current.status(), "cuCtxPushCurrent_v2");
        return;
    }
    in.for_each_lane([&](lane& on) {
        if (in.state() == context_streams::condition::usable) poll(in, on);
    });
}

// Ends everything that waits for events of a context that cannot be used.
void copy_queue::end_all(context_streams& in) noexcept {
    const bool is_gone = in.state() == context_streams::condition::gone;
    scoped_context current;
    if (!is_gone) current.enter(*driver_, in.context());
    std::size_t lost = 0;
    in.for_each_lane([&](lane& on) {
        if (on.in_flight.empty() && !on.is_touched) return;
        on.is_touched = false;
        const CUresult outcome = is_gone ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                         : driver_->cuStreamSynchronize(on.stream.get());
        while (!on.in_flight.empty()) {
            end_part(in.take_event(on), status_of(outcome));
            if (outcome != CUDA_SUCCESS) ++lost;
        }
    });
    // Other failures were logged when they were found.
    if (lost > 0 && is_gone)
        ucs::log::error(cuda_log, "{} copies have failed: their CUDA context is destroyed", lost);
}

void copy_queue::drop_unusable() noexcept {
    bool any = false;
    for (const auto& each : contexts_) {
        if (each->state() == context_streams::condition::usable) continue;
        end_all(*each);
        any = true;
    }
    if (!any) return;
    std::erase_if(contexts_, [](const auto& each) {
        return each->state() != context_streams::condition::usable;
    });
}

void copy_queue::wait_for(operation& pending) noexcept {
    for (const auto& each : contexts_) {
        context_streams& in = *each;
        if (!in.has_events()) continue;
        if (!in.is_alive()) {
            in.set_state(context_streams::condition::gone);
            continue;
        }
        const scoped_context current(*driver_, in.context());
        in.for_each_lane([&](lane& on) {
            for (pending_event& event : on.in_flight) {
                if (event.waiter != &pending) continue;
                event.waiter = nullptr;
                if (driver_->cuEventSynchronize(event.event.get()) == CUDA_SUCCESS) continue;
                const CUresult outcome = driver_->cuStreamSynchronize(on.stream.get());
                check(outcome, "cuStreamSynchronize");
                if (outcome != CUDA_SUCCESS) in.note_failure(outcome);
            }
        });
    }
}

void copy_queue::cancel(operation_list& owner) noexcept {
    while (!owner.empty()) {
        operation& oldest = owner.front();
        const bool has_ended = oldest.in_queue.is_linked();
        if (has_ended)
            ended_.erase(ended_.iterator_to(oldest));
        else
            wait_for(oldest);
        completion* const done = oldest.done;
        const ucs_status_t status = has_ended ? oldest.status : UCS_ERR_CANCELED;
        owner.remove(oldest);
        give_back(oldest);
        if (done != nullptr) done->finish(status);
    }
    drop_unusable();
}

unsigned copy_queue::report_ended() noexcept {
    unsigned reported = 0;
    while (!ended_.empty()) {
        operation& first = ended_.front();
        ended_.pop_front();
        operation_list& owner = *first.owner;
        completion* const done = first.done;
        const ucs_status_t status = first.status;
        owner.remove(first);
        give_back(first);
        // The callback may destroy the owner.
        if (!owner.empty() && owner.front().is_flush && !owner.front().in_queue.is_linked())
            ended_.push_back(owner.front());
        if (done != nullptr) done->finish(status);
        ++reported;
    }
    return reported;
}

unsigned copy_queue::progress() noexcept {
    if (in_flight_ == 0) [[likely]]
        return 0;
    for (const auto& each : contexts_) {
        if (each->has_events()) poll(*each);
    }
    drop_unusable();
    return report_ended();
}

void copy_queue::describe(ucs::vfs::directory& into) const {
    into.file("in_flight", [this] { return std::to_string(in_flight_); });
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
        into.folder(
            "context_" + std::to_string(i),
            [one = contexts_[i].get()](ucs::vfs::directory& folder) { one->describe(folder); });
    }
}

}  // namespace uct::cuda
