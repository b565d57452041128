// One way to carry out an operation, and what it is predicted to cost.
#pragma once

#include <cstddef>

#include "ucp/core/config.hpp"
#include "ucp/proto/host_costs.hpp"
#include "ucp/proto/kind.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

struct request;

// What an endpoint has to send with. `rma` is nullptr without a single-copy lane.
struct lane_set {
    const uct::iface_attr* am;
    const uct::iface_attr* rma;
    const host_costs* costs;
    const config* options;
    double stream_rate;  // bytes per second through shared memory, guessed or observed
    // Of all lanes that move such memory at the same time; 0: what `rma` says of itself.
    double rails_bandwidth = 0;

    [[nodiscard]] double rma_bandwidth() const noexcept {
        return rails_bandwidth > 0 ? rails_bandwidth : rma->bandwidth;
    }
};

// What distinguishes sends, beside their length.
struct send_class {
    send_kind kind;
    bool contiguous;  // one piece of memory; else pieces or the user's packing functions
};

// Prediction for one message: from the start of the send to its completion at the receiver.
struct estimate {
    double seconds = 0;
    const char* why_not = nullptr;  // set: cannot be used, and why, in words

    static estimate refused(const char* reason) noexcept { return {0, reason}; }
};

// A protocol is one file and one row of all_protocols() (ucp/proto/rows.hpp). Functions run in
// owner context.
struct protocol {
    const char* name;     // "rndv/get"
    const char* summary;  // what it does, for people

    // Pure: may it serve such a message on such lanes, and at what cost? Asked only for kinds that
    // allow eager protocols or rendezvous, whichever this is.
    estimate (*probe)(const lane_set& lanes, const send_class& what, std::size_t length);

    // Sends as much as it can. UCS_OK: nothing more to send for now; the request may be gone.
    // UCS_ERR_NO_RESOURCE: call again when the transport has room. An error of the lane ends
    // the request inside and counts as UCS_OK.
    ucs_status_t (*progress)(request& send);

    // Rendezvous needs no memory at the receiver: a tie is decided in its favour.
    bool rendezvous;

    // Takes the request out of whatever the protocol keeps it in; called before it is broken off.
    // nullptr: there is nothing of the kind.
    void (*abandon)(request& send) = nullptr;
    // Its requests wait for room on the lane that reaches the peer's memory, not on that of
    // messages.
    bool memory_lane = false;
};

}  // namespace ucp
