// Limit on RTS messages ahead of receives. Sender side: tagged sends beyond the limit are deferred.
// Receiver side: it requests more RTS messages from senders whose messages it waits for.
#pragma once

#include "ucp/core/slots.hpp"
#include "ucp/proto/rts_limit.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/ep.hpp"

namespace ucp {

class peer_table;
struct request;

// Slot of a peer. Tagged sends of all endpoints to it wait here until receives have matched earlier
// RTS messages. Replies, active messages and streams do not wait. Owner context.
class deferred_sends {
public:
    explicit deferred_sends(peer& of_peer) noexcept;

    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
    // Counts one more RTS. False: the limit is reached, and the caller must defer the send.
    [[nodiscard]] bool count_rts(request& send) noexcept;
    // Not inlined, to keep the start of a send that is not deferred short.
    [[gnu::noinline]] void defer(request& send) noexcept;
    // Removes an aborted send from the deferred ones, if it is one of them.
    void undefer(request& send) noexcept;
    // The receiver answers an RTS for the first time (on_rts_answered), or no answer will come
    // (rts_lost). Sends without an RTS, and those that were answered, change nothing.
    // on_rts_answered returns whether deferred sends may continue.
    [[nodiscard]] bool on_rts_answered(request& send) noexcept;
    void rts_lost(request& send) noexcept;
    // The receiver waits for a message that it does not know, and asks for more RTS messages.
    // Rounds that are over are ignored.
    void on_more_allowed(std::uint64_t round);
    // Starts deferred sends up to the limit.
    void resume();
    // The mark in an RTS that tells the peer that later sends are deferred; 0: none are.
    [[nodiscard]] std::uint32_t stop_mark() const noexcept {
        return limit_.is_reached() ? limit_.round() : 0;
    }

    // Receiver side: an RTS of the peer's endpoint `its_ep` says that later sends are deferred.
    void on_peer_defers(std::uint64_t its_ep, std::uint32_t round) noexcept;
    void request_more() noexcept;

private:
    static ucs_status_t progress_request(uct::pending_request& queued) noexcept;

    peer& peer_;
    rts_limit limit_;
    // In the order of the sends.
    ucs::datastruct::counted_list<uct::pending_request, &uct::pending_request::pending_hook>
        waiting_;
    std::uint64_t deferring_ep_ = 0;
    std::uint32_t deferring_round_ = 0;
    uct::pending_request more_request_{.progress = progress_request, .pending_hook = {}};
};

// Number of tagged sends that wait until their receivers take more RTS messages.
[[nodiscard]] std::size_t deferred_count(const peer_table& peers) noexcept;

}  // namespace ucp
