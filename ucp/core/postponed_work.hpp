// Work that a worker does at the end of the current progress or with the next one.
#pragma once

#include "ucp/core/peer.hpp"
#include "ucp/core/schedule.hpp"

namespace ucp {

// Callers may be in the middle of other work, or still use what they give up. Part of the worker;
// owner context.
class postponed_work {
public:
    postponed_work(worker& owner, schedule& turns) noexcept : owner_(owner), schedule_(turns) {}

    // Completes the request at the end of the current progress; used if a callback that sends could
    // overtake sends that wait. complete_in_order does so only behind other such requests.
    void complete_later(request& ended) noexcept {
        ended_.push_back(ended);
        schedule_.note_work();
    }
    void complete_in_order(request& done, ucs_status_t status);
    [[nodiscard]] bool has_ended() const noexcept { return !ended_.empty(); }
    [[gnu::noinline]] void run_ended();

    // Destroys an endpoint or peer at the end of the current progress.
    void destroy_later(ep& done);
    void destroy_later(peer& done);
    unsigned empty_trash();
    // The worker is being destroyed.
    void note_end() noexcept { ending_ = true; }

    // Fails the peer with the next progress, see control_channel::send and peer::fail_for_limit.
    void fail_later(peer& failing) noexcept;
    unsigned fail_noted();
    // Continues sends to the peer with the next progress, see events::peer_resumed.
    void resume_later(peer& ready) noexcept;
    unsigned resume_peers();

    // Returns whether peers are to fail or to be resumed.
    [[nodiscard]] bool has_peers() const noexcept {
        return !failing_peers_.empty() || !resuming_peers_.empty();
    }
    [[nodiscard]] bool has_any() const noexcept {
        return has_ended() || has_peers() || !trash_eps_.empty() || !trash_peers_.empty();
    }

private:
    ucs::datastruct::list<request, &request::active_hook> ended_;
    worker& owner_;
    schedule& schedule_;
    bool ending_ = false;
    ucs::datastruct::auto_list<ep, &ep::unwanted_hook> trash_eps_;
    ucs::datastruct::auto_list<peer, &peer::trash_hook> trash_peers_;
    ucs::datastruct::auto_list<peer, &peer::failing_hook> failing_peers_;
    ucs::datastruct::auto_list<peer, &peer::resuming_hook> resuming_peers_;
};

}  // namespace ucp
