// Order and completion of an endpoint's operations on its peer's memory, and the replies to the
// peer's operations on ours. See docs/remote-memory.md.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ucp/core/ep.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/rma/wire.hpp"

namespace ucp {

// Operations that may be incomplete. Made when an endpoint first carries out such an operation by a
// request. Operations that get a reply are counted among the endpoint's running sends. The tracker
// counts the others, in messages (see ucp/rma/wire.hpp), and keeps the fences behind which later
// operations wait. Owner context.
struct remote_tracker {
    std::uint64_t posted = 0;       // messages sent
    std::uint64_t requested = 0;    // messages whose confirmation was requested
    std::uint64_t confirmed = 0;    // messages that the peer has confirmed
    bool copied = false;            // puts went over the lane, which does not report their end
    unsigned flushing = 0;          // flushes of the lane that are running for these puts
    ucs_status_t outcome = UCS_OK;  // first failure since the last flush that was not reported yet
    unsigned unanswered = 0;        // operations to which the peer has not replied yet
    // Operations that wait until the peer has replied to others, because it keeps a bounded number.
    ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook> held;
    bool resuming = false;              // the held operations are being started
    std::vector<std::uint64_t> fences;  // sequence number of the first operation behind each fence

    [[nodiscard]] bool all_confirmed() const noexcept { return confirmed == posted; }
};

// Slot of an endpoint: replies that this side owes the peer. Owner context.
class owed_replies {
public:
    explicit owed_replies(ep&) noexcept {}

    // Counts a reply that the peer has not taken yet. Returns false if the peer requests more than
    // it may.
    [[nodiscard]] bool add() noexcept {
        constexpr unsigned most = wire::most_unanswered + 1;  // and one confirmation
        if (pending_ == most) return false;
        ++pending_;
        return true;
    }
    void note_sent() noexcept { --pending_; }
    // An operation of the peer on our memory was refused. The first error since the peer last asked
    // is kept; returns false if there was one already.
    bool record_refusal(ucs_status_t status) noexcept {
        if (refused_ != UCS_OK) return false;
        refused_ = status;
        return true;
    }
    [[nodiscard]] ucs_status_t take_refused() noexcept { return std::exchange(refused_, UCS_OK); }

private:
    std::uint16_t pending_ = 0;
    ucs_status_t refused_ = UCS_OK;
};

// Slot of an endpoint. Owner context.
struct access_order {
    explicit access_order(ep&) noexcept {}

    std::unique_ptr<remote_tracker> tracker;  // nullptr: no such operation yet
};

// Returns whether mapped memory of the peer may be loaded from and stored to directly. This is the
// only check of puts, gets and atomics.
[[nodiscard]] inline bool reaches_directly(const ep& endpoint) noexcept {
    return endpoint.operations().is_direct;
}
// Makes reaches_directly true if possible: the endpoint works, and nothing has to be waited for.
[[nodiscard]] bool open_directly(ep& endpoint);
// Submits an operation on the peer's memory, as submit does. It starts at once unless it is behind
// a fence.
void submit_remote(ep& endpoint, request& operation);
// A put message left that the peer does not answer.
void note_posted(ep& endpoint) noexcept;
// A put went over the lane by copying, which reports no arrival.
void note_copied(ep& endpoint) noexcept;
void note_lane_flushed(ep& endpoint) noexcept;
// The peer has carried out so many of the unanswered puts. Returns false if it was not asked.
[[nodiscard]] bool confirm(ep& endpoint, std::uint64_t count, ucs_status_t status);
// Returns whether an operation that the peer answers may be sent now. If not, it is held until
// replies to others arrive, and its protocol's progress is called again.
[[nodiscard]] bool can_request(request& operation) noexcept;
void note_requested(ep& endpoint) noexcept;
void release_hold(request& operation) noexcept;
// The peer has answered an operation, which ends with that.
void end_answered(request& operation, ucs_status_t status);
// An operation that could not be sent ends.
void end_unrequested(request& operation, ucs_status_t status);
// An operation failed whose request the program has released: the next flush reports the error.
void note_lost(ep& endpoint, ucs_status_t status) noexcept;
// Fence: later operations on the peer's memory wait for those under way. Returns false if there is
// no memory.
[[nodiscard]] bool fence(ep& endpoint);
// Operations behind a fence start when those before it are complete, here and at the peer.
void pass_fences(ep& endpoint);
[[nodiscard]] bool is_behind_fence(const request& operation) noexcept;
// Adds an operation that ends when the copied data has arrived, so that callers waiting for all
// operations also wait for that data. Returns false if there is no memory.
[[nodiscard]] bool await_copied(ep& endpoint) noexcept;
// Once everything before the flush has left, requests a confirmation from the peer.
[[nodiscard]] bool is_confirmed(ep& endpoint, flush_state& flush);
// Returns the first failure since the last flush, and forgets it.
[[nodiscard]] ucs_status_t take_outcome(ep& endpoint) noexcept;
// The endpoint fails: nothing is waited for any more.
void forget_remote(ep& endpoint) noexcept;

}  // namespace ucp
