// Life of a send that does not complete inside its call, shared by all send protocols.
#pragma once

#include "ucp/core/complete.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/proto/protocol.hpp"

namespace ucp {

// Owner context.

// Prepares a send whose buffer is on a device. Short data is copied to host memory, which takes its
// place; longer data is copied part after part while it is sent. The result of an operation that
// gets one goes to host memory first. Returns the error of the device or UCS_ERR_NO_MEMORY.
[[nodiscard]] ucs_status_t prepare_device_send(request& send) noexcept;

// Longest data of a device that is copied to the host before it is sent, in the call.
inline constexpr std::size_t longest_staged = 16 * 1024;

// Like describe_send, without preparing a buffer on a device.
template<class State>
[[nodiscard]] ucs_status_t describe_host_send(request& send, send_kind kind, const void* buffer,
                                              std::size_t count, ucp_datatype_t datatype) noexcept {
    State& state = send.start_send<State>();
    state.kind = kind;
    return state.buffer.init(buffer, count, datatype);
}

// Fills in a new send: its buffer and its kind. If this fails, the caller must refuse the request.
template<class State>
[[nodiscard]] ucs_status_t describe_send(request& send, send_kind kind, const void* buffer,
                                         std::size_t count, ucp_datatype_t datatype) noexcept {
    const ucs_status_t status = describe_host_send<State>(send, kind, buffer, count, datatype);
    if (status == UCS_OK && send.as<State>().buffer.on_device()) [[unlikely]]
        return prepare_device_send(send);
    return status;
}

// For a send that may not wait and did not fit the short path. Starts connecting the endpoint, so
// that a later try may succeed, and returns the status for the program.
[[nodiscard]] ucs_status_t refuse_immediate(ep& to);

// Records in the user's request memory that an operation completed within its call.
inline void record_success(void* user_request, worker& owner) noexcept {
    request& request_memory = request::of(user_request);
    request_memory.status = UCS_OK;
    request_memory.kind = request_kind::none;
    request_memory.owner = &owner;
    request_memory.flags.assign(request_flags::completed | request_flags::user_memory);
}

// Chooses the protocol, unless the operation has only one, and sends as much as possible. A tagged
// send may be deferred instead.
void start_send(request& send);
// Like start_send, for the first deferred send.
void begin_send(request& send);

// Starts a send: at once if the endpoint is ready, otherwise when the connection is established.
// The request is already in `starting` state.
void submit(ep& to, request& send);
// Starts the sends that wait for the connection, or behind a fence, in their order.
void start_waiting(ep& ready);

// Continues the protocol; if the lane has no room, queues the request there.
void run_send(request& send);
// Continues a send whose data has been copied from a device.
void continue_send(request& send);
// Like run_send, with a given protocol.
void start_with(request& send, const protocol& chosen);

// Gives up data that was copied from a device and is not sent any more. Does nothing for other
// sends. Call while the send cannot end: it counts a part itself.
void stop_staging(request& send) noexcept;

// Ends the request after its data was handed over, acknowledged or refused.
void finish_send(request& send, ucs_status_t status);

// Aborts a request whose endpoint goes away. The request ends later if the transport still reads
// its data.
void abort_send(request& send, ucs_status_t status);

// Gives the request an id that the peer can send back. release_id removes it, also if it was never
// sent. Returns false, with a line in the log, if there is no memory.
[[nodiscard]] bool assign_id(request& send) noexcept;
void release_id(request& send) noexcept;

// Returns the running send with this id, or nullptr. The id comes from a peer.
[[nodiscard]] request* find_send(worker& owner, std::uint64_t id) noexcept;

// Sends [offset, end) of the buffer as fragments of message `id`; `make_header` writes the header
// of each fragment for its offset. UCS_ERR_NO_RESOURCE means call again. UCS_OK means that all data
// is handed to the transport, or that the request ended with an error (then it may be gone).
struct fragment_writer {
    uct::am_id id;
    std::size_t header_length;
    void (*make_header)(const request& send, void* into);
};
ucs_status_t send_fragments(request& send, const fragment_writer& writer);

// Sends one such fragment. [offset, end) must not be empty. UCS_INPROGRESS: the data is still being
// copied from a device; the protocol's progress is called again when it is there.
ucs_status_t send_fragment(request& send, const fragment_writer& writer);

// Declares that no more fragments follow. When those that were sent have left, the `done` function
// of begin_fragments runs. An error ends the request instead.
void end_fragments(request& send, ucs_status_t status);

// Starts counting fragments. `done` runs when all fragments of send_fragments have left.
void begin_fragments(request& send, std::size_t end, void (*done)(request& send));

}  // namespace ucp
