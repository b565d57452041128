#include "ucp/core/postponed_work.hpp"

#include "ucp/core/complete.hpp"
#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

void postponed_work::complete_in_order(request& done, ucs_status_t status) {
    if (ended_.empty()) {
        complete(done, status);
        return;
    }
    done.status = status;
    complete_later(done);
}

void postponed_work::run_ended() {
    while (!ended_.empty()) {
        request& next = ended_.front();
        ended_.pop_front();
        complete(next, next.status);
    }
}

void postponed_work::destroy_later(ep& done) {
    done.unwanted_hook.unlink();
    trash_eps_.push_back(done);
    schedule_.hurry();  // the next progress destroys it
}

void postponed_work::destroy_later(peer& done) {
    done.trash_hook.unlink();
    trash_peers_.push_back(done);
    schedule_.hurry();
}

unsigned postponed_work::empty_trash() {
    while (!trash_eps_.empty()) {
        ep* gone = &trash_eps_.front();
        trash_eps_.pop_front();
        owner_.endpoints().erase(gone->id());
        delete gone;
    }
    while (!trash_peers_.empty()) {
        peer* gone = &trash_peers_.front();
        trash_peers_.pop_front();
        bool is_needed = gone->is_held();  // the peer is in use again
        if (!is_needed) publish(events::peer_unused{*gone, is_needed});
        if (is_needed) continue;
        owner_.peers().erase(*gone);
        if (!ending_) publish(events::peer_destroyed{owner_});
    }
    return 0;
}

void postponed_work::fail_later(peer& failing) noexcept {
    if (!failing.failing_hook.is_linked()) failing_peers_.push_back(failing);
    schedule_.hurry();
}

void postponed_work::resume_later(peer& ready) noexcept {
    if (!ready.resuming_hook.is_linked()) resuming_peers_.push_back(ready);
    schedule_.hurry();
}

unsigned postponed_work::fail_noted() {
    unsigned count = 0;
    while (!failing_peers_.empty()) {
        peer& failing = failing_peers_.front();
        failing_peers_.pop_front();
        if (!failing.control().has_passed_limit()) {
            failing.fail_alive(UCS_ERR_NO_MEMORY);
        } else if (failing.connection != 0) {
            owner_.interfaces().end_connection(failing.connection, UCS_ERR_EXCEEDS_LIMIT);
        }
        ++count;
    }
    return count;
}

unsigned postponed_work::resume_peers() {
    unsigned count = 0;
    while (!resuming_peers_.empty()) {
        peer& ready = resuming_peers_.front();
        resuming_peers_.pop_front();
        publish(events::peer_resumed{ready});
        ++count;
    }
    return count;
}

}  // namespace ucp
