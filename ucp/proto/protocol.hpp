// Protocols: methods to carry out an operation, with their predicted cost.
#pragma once

#include <cstddef>

#include "ucp/core/config.hpp"
#include "ucp/core/host_costs.hpp"
#include "ucp/core/kind.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

struct request;

// Lanes and costs that an endpoint can use. `rma` is nullptr without a lane to the peer's memory.
struct lane_set {
    const uct::iface_attr* am;
    const uct::iface_attr* rma;
    const host_costs* costs;
    const config* options;
    double stream_rate;  // bytes per second through shared memory, guessed or observed
    const uct::iface_attr* device = nullptr;       // lane to memory of devices, if there is one
    const uct::iface_attr* device_copy = nullptr;  // copies between host and devices here
    // Sum over all lanes that move such memory together; 0: use the bandwidth of `rma`.
    double rails_bandwidth = 0;

    [[nodiscard]] double rma_bandwidth() const noexcept {
        return rails_bandwidth > 0 ? rails_bandwidth : rma->bandwidth;
    }
};

// Properties that distinguish sends, in addition to their length.
struct send_class {
    send_kind kind;
    bool contiguous;  // one piece of memory; otherwise pieces or the user's packing functions
    bool on_device = false;  // (partly) in memory of a device
};

// Predicted time of one message, from the start of the send to its completion at the receiver.
struct estimate {
    double seconds = 0;
    const char* why_not = nullptr;  // set: the protocol cannot be used, for this reason

    static estimate refused(const char* reason) noexcept { return {0, reason}; }
};

// Lanes of a peer that an operation may use (ucp/core/lanes.hpp).
enum class lane_use : std::uint8_t { message, memory, device };

// A protocol is one row of all_protocols() (ucp/proto/selection.hpp). Its functions run in owner
// context.
struct protocol {
    const char* name;     // "rndv/get"
    const char* summary;  // short description for display

    // Returns the predicted cost of such a message on such lanes, or the reason for refusing it.
    // Pure. Called only for kinds that allow the protocol's type (eager or rendezvous).
    estimate (*probe)(const lane_set& lanes, const send_class& send, std::size_t length);

    // Sends as much as possible. UCS_OK means there is nothing more to send for now, and the
    // request may be gone. UCS_ERR_NO_RESOURCE means call again when the transport has room. An
    // error of the lane ends the request inside and is returned as UCS_OK.
    ucs_status_t (*progress)(request& send);

    // Rendezvous needs no memory at the receiver, so it wins a tie.
    bool rendezvous;

    // Called before the request is aborted: removes it from the protocol's own queues, and keeps
    // memory that the peer may be using. nullptr if there is nothing to do.
    void (*abandon)(request& send) = nullptr;
    // The lane on which requests wait for room.
    lane_use lane = lane_use::message;
    // Releases what the protocol's part of the state owns; called when the request ends. nullptr if
    // it owns nothing.
    void (*end)(request& send) = nullptr;
    // Called before the request ends because its data could not be read from a device, after other
    // data was sent: tells the peer that no more follows. nullptr if the peer waits for nothing.
    void (*failed)(request& send, ucs_status_t status) = nullptr;
};

}  // namespace ucp
