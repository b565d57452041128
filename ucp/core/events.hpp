// Events by which the core notifies the features of a worker.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ucs/type/status.h"

namespace uct {
class ep;
class iface;
struct pending_request;
}  // namespace uct

namespace ucp {

class ep;
class peer;
class worker;
struct flush_state;
struct request;

// Calls `on(event)` of each feature that has such a function, in the order of
// ucp/features/list.hpp, which lists the events, too: a new event is added there. It is defined in
// ucp/features/features.cpp; after link-time optimisation the calls are direct.
template<class Event>
void publish(const Event& event);

namespace events {

// An interface was opened: the feature registers its message handlers.
struct interface_opened {
    worker& owner;
    uct::iface& iface;
};

// All interfaces of the worker are open. The feature sets the status if the worker cannot use them.
struct worker_opened {
    worker& owner;
    ucs_status_t& status;
};

// Begin and end of the part of progress that not every call runs. The feature sets `again` if the
// next call must run it.
struct slow_progress_began {
    worker& owner;
};
struct slow_progress_ended {
    worker& owner;
    bool& again;
};

// The text about the worker is made: lines with counts, and then details.
struct worker_described {
    const worker& owner;
    std::string& counts;
    std::string& details;
};

// The descriptors were polled in progress. The feature adds the number of its events to `found`.
struct descriptors_polled {
    worker& owner;
    unsigned& found;
};

// Descriptors and all interfaces were polled in progress.
struct everything_polled {
    worker& owner;
};

// A thread is about to sleep. The feature sets `found` if progress has something to do for it.
struct work_sought {
    const worker& owner;
    bool& found;
};

// The worker is being destroyed and has no endpoint any more, but still its peers.
struct endpoints_ended {
    worker& owner;
};

// Progress has found nothing for a while.
struct worker_idle {
    worker& owner;
};

// Limits are checked in progress. The feature fails peers that exceed its limits, and adds their
// number to `failed`.
struct limits_checked {
    worker& owner;
    unsigned& failed;
};

// An interface has lost a lane to the peer.
struct lane_failed {
    peer& to;
    uct::ep& lane;
    ucs_status_t status;
};

// Sends that waited for the peer may continue, see postponed_work::resume_later.
struct peer_resumed {
    peer& ready;
};

// Nothing uses the peer object any more. The feature sets `is_needed` if it must stay.
struct peer_unused {
    peer& unused;
    bool& is_needed;
};

// A peer object that nothing used was destroyed, and the worker lives on.
struct peer_destroyed {
    worker& owner;
};

// A given address of a known peer came again, maybe changed.
struct address_given {
    peer& known;
    std::span<const std::byte> packed;
};

// The address of a worker was given of which this peer object has claimed one.
struct claim_confirmed {
    peer& claimed;
    peer& given;
};

// It is time to check whether the peer is alive.
struct peer_probed {
    peer& probed;
};

// The endpoints to the peer fail.
struct peer_failed {
    peer& failing;
    ucs_status_t status;
};

// The peer and its lanes are gone, and its endpoints have failed.
struct peer_lost {
    peer& lost;
};

// The peer object is being destroyed.
struct peer_ended {
    peer& ending;
};

// An endpoint uses the peer object from now on, or no longer. It may be in its constructor.
struct endpoint_attached {
    peer& to;
};
struct endpoint_detached {
    peer& from;
    const ep& gone;
};

// A message that has waited for room is dropped with its lane.
struct message_dropped {
    uct::pending_request& queued;
    bool& is_dropped;

    // Drops the message if it is one of the feature's.
    void drop_if(bool (*is_one)(const uct::pending_request&),
                 void (*drop)(uct::pending_request&)) const {
        if (is_dropped || !is_one(queued)) return;
        is_dropped = true;
        drop(queued);
    }
};

// The program has taken over the endpoint or given it up, or an endpoint that it has not asked for
// counts no longer.
struct ownership_changed {
    ep& endpoint;
};

// The endpoint is about to move to another peer object for the same worker.
struct peer_changed {
    ep& endpoint;
    peer& to;
};

// A peer connects. The feature clears `granted` if senders get no credits now.
struct credits_sought {
    const worker& owner;
    bool& granted;
};

// Credits are to be requested from the peer over this endpoint.
struct credits_requested {
    ep& over;
};

// The peer defers sends to this worker.
struct sends_deferred {
    peer& sender;
};

// Messages that have arrived in part, or of which the RTS has arrived, cannot end any more.
struct messages_lost {
    ep& endpoint;
};

// The matched receives of the endpoint end with the status.
struct receives_lost {
    ep& endpoint;
    ucs_status_t status;
};

// Nothing more is received: operations that wait for the peer's messages end with the status.
struct incoming_ended {
    ep& endpoint;
    ucs_status_t status;
};

// The peer's program has closed its endpoint.
struct peer_closed {
    ep& endpoint;
};

// The program has begun a flush that closes the endpoint, and reads no more. Also published when
// such an endpoint becomes ready.
struct closing_flush_began {
    ep& endpoint;
};

// That flush has ended.
struct closing_flush_ended {
    ep& endpoint;
};

// A flush, which `closes` the endpoint or not, may have to wait for the connection: the feature
// sets `waits`.
struct connection_sought {
    const ep& endpoint;
    bool closes;
    bool& waits;
};

// The worker is being destroyed: everything of the endpoint ends, and the peer is not notified.
struct endpoint_abandoned {
    ep& endpoint;
};

// The endpoint is being destroyed.
struct endpoint_ended {
    ep& endpoint;
};

// The endpoint closes, and no program reads what was stored for it.
struct closed_unread {
    ep& endpoint;
};

// An operation of the endpoint has ended; published only if running_operations::is_end_watched.
struct operation_ended {
    ep& endpoint;
};

// Operations of the endpoint may have ended, and others may wait behind a fence; published only if
// running_operations::has_fences, as is the next one.
struct fences_checked {
    ep& endpoint;
};

// A send that waited for its connection can start. The feature clears `allowed` if it must go on
// waiting, behind a fence.
struct waiting_send_found {
    const request& waiting;
    bool& allowed;
};

// A send failed whose request the program has released.
struct operation_lost {
    ep& endpoint;
    ucs_status_t status;
};

// The endpoint fails, and its operations are about to be aborted.
struct operations_aborted {
    ep& endpoint;
};

// Whether the peer has confirmed all operations, and errors were reported: the feature sets
// `unconfirmed` or `unreported`.
struct confirmations_sought {
    const ep& endpoint;
    bool& unconfirmed;
    bool& unreported;
};

// A flush begins. The feature clears `possible` if there is no memory for that.
struct flush_began {
    ep& endpoint;
    bool& possible;
};

// The sends before a flush have ended. The feature clears `confirmed` if the peer has not confirmed
// them yet, and asks it to.
struct flush_checked {
    ep& endpoint;
    flush_state& flush;
    bool& confirmed;
};

// A flush ends. The feature sets its outcome if an operation failed.
struct flush_ended {
    ep& endpoint;
    ucs_status_t& outcome;
};

}  // namespace events
}  // namespace ucp
