// What all send protocols share: the life of a send that does not end inside its call.
#pragma once

#include "ucp/core/complete.hpp"
#include "ucp/core/ep.hpp"

namespace ucp {

// Owner context.

// Describes a send that begins: its buffer, kind and first word. On an error the request must be
// refused.
[[nodiscard]] inline ucs_status_t describe_send(request& send, send_kind kind, std::uint64_t what,
                                                const void* buffer, std::size_t count,
                                                ucp_datatype_t datatype) noexcept {
    send_state& state = send.start_send();
    state.kind = kind;
    state.what = what;
    return state.buffer.init(buffer, count, datatype);
}

// A send that may not wait did not go by the short path. The endpoint connects, so that the
// program may succeed when it asks again.
[[nodiscard]] ucs_status_t not_now(ep& to);

// Notes in memory of the user's that an operation on it ended within its call.
inline void note_success(void* user_request, worker& owner) noexcept {
    request& mine = request::of(user_request);
    mine.status = UCS_OK;
    mine.kind = request_kind::none;
    mine.owner = &owner;
    mine.flags.assign(request_flags::completed | request_flags::user_memory);
}

// Chooses the protocol, unless the operation has just one, and sends as much as goes. A tag send
// may be deferred instead.
void start_send(request& send);
// The same, for the first of those that were deferred.
void begin_send(request& send);

// Lets the protocol go on; when the lane has no room it is queued there.
void run_send(request& send);
// The same with a protocol that is known.
void start_with(request& send, const protocol& how);

// The data was handed over, acknowledged or refused: ends the request.
void finish_send(request& send, ucs_status_t status);

// Ends a request whose endpoint goes away. Data that the transport still reads delays the end.
void abort_send(request& send, ucs_status_t status);

// Gives the request a name that the peer can send back; release_id takes it away, also one that was
// never sent. False: no memory, with a line in the log.
[[nodiscard]] bool assign_id(request& send) noexcept;
void release_id(request& send) noexcept;

// The running send with this name, or nullptr: names come from peers.
[[nodiscard]] request* find_send(worker& owner, std::uint64_t id) noexcept;

// Sends [offset, end) of the buffer as a row of fragments of message `id`, each with the header
// that `make_header` writes for its offset. UCS_ERR_NO_RESOURCE: call again. UCS_OK: all is handed
// to the transport, or the request ended with an error (then it may be gone).
struct fragment_writer {
    uct::am_id id;
    std::size_t header_length;
    void (*make_header)(const request& send, void* into);
};
ucs_status_t send_fragments(request& send, const fragment_writer& how);

// One of them. [offset, end) must not be empty.
ucs_status_t send_fragment(request& send, const fragment_writer& how);

// No more pieces come: what begin_fragments said happens when those that were sent have left. An
// error ends the request instead.
void end_fragments(request& send, ucs_status_t status);

// Starts counting pieces; when all of send_fragments' pieces have left, `done` runs.
void begin_fragments(request& send, std::size_t end, void (*done)(request& send));

}  // namespace ucp
