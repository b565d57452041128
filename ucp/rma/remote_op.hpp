// Operations on a peer's memory while they run: their state, and their protocols.
#pragma once

#include "ucp/core/request.hpp"
#include "ucp/mem/rkey.hpp"
#include "ucp/proto/protocol.hpp"
#include "uct/api/atomic.hpp"

namespace ucp {

// Owner context.
struct remote_op : send_state {
    std::uint64_t address = 0;       // in the peer's memory
    const mem::rkey* key = nullptr;  // the program's key to that memory
    mem::credentials owner;          // of the memory
    std::byte* window = nullptr;     // mapping of the memory in this process, or nullptr
    uct::atomic_op atomic;           // only for an atomic operation

    void set_target(std::uint64_t in_peer, const mem::rkey& its_key) noexcept {
        address = in_peer;
        key = &its_key;
        owner = its_key.owner();
    }
};

// Protocols that carry out such an operation.
extern const protocol rma_direct;          // ucp/rma/direct.cpp: loads and stores, after a fence
extern const protocol rma_waiting;         // ucp/rma/rma.cpp: not started yet
extern const protocol rma_single_copy;     // ucp/rma/single_copy.cpp
extern const protocol rma_device_copy;     // the same over the lane to devices
extern const protocol rma_put_copied;      // ucp/rma/put_copied.cpp
extern const protocol rma_lane_flush;      //
extern const protocol rma_put_messages;    // ucp/rma/messages.cpp
extern const protocol rma_get_messages;    //
extern const protocol rma_atomic_message;  // ucp/amo/amo.cpp
extern const protocol rma_reply;           // ucp/rma/target.cpp: the owner's data for a get

// Sends a request whose reply from the owner of the memory names the request's id. `pack` writes
// the message; its argument is the request. The result is that of a protocol's progress. If the
// owner already has too many such requests from this endpoint, the request is queued;
// abandon_request removes it from that queue.
ucs_status_t request_from_owner(request& send, uct::am_id id, uct::pack_function pack);
void abandon_request(request& send);

// Copies arrived data into the operation's buffer. Returns UCS_OK or the error of a device.
ucs_status_t scatter(send_state& into, std::size_t offset, const void* data,
                     std::size_t length) noexcept;

}  // namespace ucp
