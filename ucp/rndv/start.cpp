#include "ucp/rndv/start.hpp"

#include <cstring>

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
    // Whoever handles errors may break the send off, and has its memory back at once.
    const bool lasting = send.via->error_mode() == UCP_ERR_HANDLING_MODE_NONE;
    const wire::rts_header header{state.what,
                                  state.buffer.length(),
                                  send.via->remote_id(),
                                  state.local_id,
                                  address,
                                  lasting ? 0 : wire::rts_confirm,
                                  state.announced ? send.via->remote().stop_mark() : 0};
    std::memcpy(into, &header, sizeof header);
    if (state.header_length > 0) {  // of an active message
        std::memcpy(static_cast<std::byte*>(into) + sizeof header, state.header,
                    state.header_length);
        state.header_sent = true;
    }
    return sizeof header + state.header_length;
}

}  // namespace

ucs_status_t send_rts(request& send, bool readable) {
    packing job{&send, readable};
    if (!assign_id(send)) {
        finish_send(send, UCS_ERR_NO_MEMORY);
        return UCS_OK;
    }
    const ssize_t sent =
        send.via->lane().am_bcopy(traits(send.state.send.kind).announcement, pack_rts, &job);
    if (sent >= 0) return UCS_OK;
    release_id(send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    finish_send(send, static_cast<ucs_status_t>(sent));
    return UCS_OK;
}

}  // namespace ucp
