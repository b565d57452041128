#include "ucp/core/operations.hpp"

#include "ucp/core/complete.hpp"
#include "ucp/core/events.hpp"
#include "ucp/core/flush.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

bool running_operations::awaits_connection(bool closes) const noexcept {
    bool waits = false;
    publish(events::connection_sought{endpoint(), closes, waits});
    return waits;
}

bool running_operations::is_all_confirmed() const noexcept {
    bool unconfirmed = false;
    bool unreported = false;
    publish(events::confirmations_sought{endpoint(), unconfirmed, unreported});
    return !unconfirmed;
}

// Closing succeeds in any case.
ucs_status_t running_operations::outcome_of(const flush_state& flush) {
    ucs_status_t outcome = UCS_OK;
    if (!flush.close_after) publish(events::flush_ended{endpoint(), outcome});
    return outcome;
}

ucs_status_t running_operations::start_flush(request& flush) {
    ep& via = endpoint();
    flush_state& state = flush.state.flush;
    flush.via = &via;
    bool is_possible = true;
    publish(events::flush_began{via, is_possible});
    if (!is_possible && !state.close_after) return UCS_ERR_NO_MEMORY;
    state.until = sequence_;
    if (via.failure() != UCS_OK && !state.close_after) return via.failure();
    if (state.close_after) publish(events::closing_flush_began{via});
    const bool waits = !sends_.empty() || awaits_connection(state.close_after);
    // Earlier flushes may be about to end, one after the other: a close in the callback of one must
    // not overtake the rest.
    if (!waits && is_all_confirmed() && flushes_.empty()) return outcome_of(state);
    flushes_.push_back(flush);
    closes_after_flush_ = closes_after_flush_ || state.close_after;
    if (!waits) {
        bool is_confirmed = true;
        publish(events::flush_checked{via, state, is_confirmed});  // asks the peer to confirm
    }
    return UCS_INPROGRESS;
}

// Ending an operation may call this function again; the outer call then checks once more.
void running_operations::check_flushes() {
    if (is_end_watched) publish(events::operation_ended{endpoint()});
    looks_again_ = true;
    if (is_checking_) return;
    is_checking_ = true;
    while (std::exchange(looks_again_, false)) {
        if (has_fences) [[unlikely]]
            publish(events::fences_checked{endpoint()});
        while (!flushes_.empty() && is_reached(flushes_.front().state.flush)) {
            request& flush = flushes_.front();
            flushes_.pop_front();
            end_flush(flush, outcome_of(flush.state.flush));
        }
    }
    is_checking_ = false;
}

bool running_operations::is_reached(flush_state& flush) {
    const bool is_pending = !sends_.empty() && sends_.front().sequence < flush.until;
    if (is_pending || awaits_connection(flush.close_after)) return false;
    bool is_confirmed = true;
    publish(events::flush_checked{endpoint(), flush, is_confirmed});
    return is_confirmed;
}

bool running_operations::has_unflushed() const noexcept {
    if (endpoint().failure() != UCS_OK) return false;
    if (!sends_.empty() || awaits_connection(false)) return true;
    bool unconfirmed = false;
    bool unreported = false;
    publish(events::confirmations_sought{endpoint(), unconfirmed, unreported});
    return unconfirmed || unreported;
}

void running_operations::end_flush(request& flush, ucs_status_t status) {
    ep& via = endpoint();
    const bool closes = flush.state.flush.close_after;
    request* const group = flush.state.flush.group;
    via.owner().postponed().complete_in_order(flush, status);
    if (group != nullptr) end_part(*group, status);
    if (closes) {
        closes_after_flush_ = false;
        publish(events::closing_flush_ended{via});
    }
}

void running_operations::take_flushes(aborted_flushes& into) {
    into.waiting.swap(flushes_);
    into.unconfirmed = !is_all_confirmed();
    publish(events::operations_aborted{endpoint()});
    into.first_aborted = sends_.empty() ? sequence_ : sends_.front().sequence;
}

void running_operations::end_flushes(aborted_flushes& taken, ucs_status_t status) {
    while (!taken.waiting.empty()) {
        request& flush = taken.waiting.front();
        taken.waiting.pop_front();
        // Closing succeeds in any case, and a worker's flush fails only if a send did.
        const flush_state& state = flush.state.flush;
        const bool is_lost =
            state.group == nullptr || taken.unconfirmed || taken.first_aborted < state.until;
        end_flush(flush, is_lost && !state.close_after ? status : UCS_OK);
    }
    // Callbacks may have started other flushes, which waited for the aborted operations.
    if (!flushes_.empty()) check_flushes();
}

}  // namespace ucp
