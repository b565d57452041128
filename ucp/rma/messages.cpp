// Put and get by messages: the owner of the memory copies the data.
#include <cstring>

#include "ucp/core/peer.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/wire.hpp"

namespace ucp {

namespace {

// Writes the header of each fragment, also when a fragment is tried again.
void write_put_header(const request& send, void* into) {
    const auto& state = send.as<remote_op>();
    const wire::put_header header{send.via->remote_id(), state.owner.id, state.owner.secret,
                                  state.address + state.offset};
    std::memcpy(into, &header, sizeof header);
}

constexpr fragment_writer put_fragments{wire::rma_put, sizeof(wire::put_header), write_put_header};

ucs_status_t progress_put(request& send) {
    send_state& state = send.state.send;
    if (!state.started) {
        state.started = true;
        begin_fragments(send, state.buffer.length(),
                        [](request& done) { finish_send(done, UCS_OK); });
    }
    // From now on the peer has a message to which it sends no reply.
    note_posted(*send.via);
    return send_fragments(send, put_fragments);
}

std::size_t pack_get(void* arg, void* into, std::size_t) {
    const request& send = *static_cast<const request*>(arg);
    const auto& state = send.as<remote_op>();
    const wire::get_header header{send.via->remote_id(), state.owner.id,        state.owner.secret,
                                  state.address,         state.buffer.length(), state.local_id};
    std::memcpy(into, &header, sizeof header);
    return sizeof header;
}

ucs_status_t progress_get(request& send) {
    return request_from_owner(send, wire::rma_get, pack_get);
}

}  // namespace

constinit const protocol rma_put_messages{"rma/put_messages",
                                          "sent to the owner of the memory, which copies", nullptr,
                                          progress_put, false};
constinit const protocol rma_get_messages{"rma/get_messages",
                                          "requested from the owner of the memory, which sends it",
                                          nullptr,
                                          progress_get,
                                          false,
                                          abandon_request};

}  // namespace ucp
