// Tagged sends: the fast path, and what every send protocol shares.
#pragma once

#include "ucp/core/complete.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/tag/wire.hpp"

namespace ucp {

// The whole life of a send that does not end inside its call. Owner context.

// Takes a request, describes the message in it and submits it.
ucs_status_ptr_t tag_send_request(ep& to, const void* buffer, std::size_t count, ucp_tag_t tag,
                                  bool sync, const operation& params);

// Sends a tagged message. See ucp_tag_send_nbx for the result.
inline ucs_status_ptr_t tag_send(ep& to, const void* buffer, std::size_t count, ucp_tag_t tag,
                                 const operation& params) {
    const ucp_datatype_t datatype = params.datatype();
    std::size_t length;
    if (dt::is_contig(datatype) && dt::contig_length(datatype, count, length) &&
        to.fits_short(length) && !params.no_immediate() && (buffer != nullptr || length == 0))
        [[likely]] {
        const ucs_status_t status = to.lane().am_short(wire::eager_only, tag, buffer, length);
        if (status == UCS_OK) [[likely]] {
            if (params.has_user_request()) {
                request& mine = request::of(params.user_request());
                mine.status = UCS_OK;
                mine.kind = request_kind::none;
                mine.owner = &to.owner();
                mine.flags.assign(request_flags::completed | request_flags::user_memory);
            }
            return nullptr;
        }
    }
    return tag_send_request(to, buffer, count, tag, false, params);
}

// Chooses the protocol and sends as much as goes.
void start_send(request& send);

// The data was handed over, acknowledged or refused: ends the request.
void finish_send(request& send, ucs_status_t status);

// Ends a request whose endpoint goes away. Data that the transport still reads delays the end.
void abort_send(request& send, ucs_status_t status);

// Gives the request a name that the peer can send back; release_id takes it away. A name that was
// not sent is taken away again, because peers may guess it. False: no memory, with a line in the
// log.
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

// Starts counting pieces; when all of send_fragments' pieces have left, `done` runs.
void begin_fragments(request& send, std::size_t end, void (*done)(request& send));

// The receiver matched a synchronous eager send, or gave it up.
void eager_acknowledged(request& send, ucs_status_t status);

}  // namespace ucp
