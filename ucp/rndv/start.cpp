#include "ucp/rndv/start.hpp"

#include <cstring>

#include "ucp/core/peer.hpp"
#include "ucp/proto/am_fields.hpp"
#include "ucp/rndv/choice.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp {

namespace {

struct packing {
    request* send;
    bool readable;
};

std::size_t pack_rts(void* arg, void* into, std::size_t) {
    const auto& job = *static_cast<packing*>(arg);
    request& send = *job.send;
    send_state& state = send.state.send;
    const auto address =
        job.readable ? reinterpret_cast<std::uint64_t>(state.buffer.contiguous()) : 0;
    // In mode PEER a send may be aborted at any time, and the program gets its memory back at once.
    const bool lasting = send.via->error_mode() == UCP_ERR_HANDLING_MODE_NONE;
    const wire::rts_header header{state.tag_or_id,
                                  state.buffer.length(),
                                  send.via->remote_id(),
                                  state.local_id,
                                  address,
                                  lasting ? 0 : wire::rts_confirm,
                                  state.rts_counted ? send.via->remote().stop_mark() : 0};
    std::memcpy(into, &header, sizeof header);
    if (state.header_length > 0) {  // header of an active message
        std::memcpy(static_cast<std::byte*>(into) + sizeof header, state.header,
                    state.header_length);
        state.header_sent = true;
    }
    const std::size_t length = sizeof header + state.header_length;
    if (address == 0 || !state.has_exposed) return length;
    const std::size_t place = sizeof header + wire::padded_length(state.header_length);
    std::memset(static_cast<std::byte*>(into) + length, 0, place - length);
    return place + pack_keys(*state.exposed, static_cast<std::byte*>(into) + place);
}

// Returns whether the receiver may read the buffer. If the peer needs a key, the buffer is exposed,
// provided that this is worthwhile. It stays exposed while the RTS waits for room.
bool is_readable(request& send) {
    send_state& state = send.state.send;
    const peer& to = send.via->remote();
    if (to.rma() == nullptr || state.buffer.contiguous() == nullptr) return false;
    if (to.rail_count() == 0 || state.has_exposed) return true;
    state.copies = state.copies || !pays_in_place(send, uct::memory_user::peer);
    if (state.copies) return false;
    auto* const bytes = static_cast<const std::byte*>(state.buffer.contiguous());
    auto exposed = expose(to, {const_cast<std::byte*>(bytes), state.buffer.length()},
                          uct::memory_access::read);
    if (exposed == nullptr) return false;
    state.set_exposed(std::move(exposed));
    return true;
}

}  // namespace

ucs_status_t send_rts(request& send, bool readable) {
    packing job{&send, readable && is_readable(send)};
    if (!assign_id(send)) {
        finish_send(send, UCS_ERR_NO_MEMORY);
        return UCS_OK;
    }
    const ssize_t sent =
        send.via->lane().am_bcopy(traits(send.state.send.kind).rts, pack_rts, &job);
    if (sent >= 0) return UCS_OK;
    release_id(send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    finish_send(send, static_cast<ucs_status_t>(sent));
    return UCS_OK;
}

}  // namespace ucp
