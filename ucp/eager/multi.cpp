// Protocol that sends the message in fragments without a handshake. Every synchronous eager send
// uses it, because its first fragment names the request to acknowledge.
#include <cstring>

#include "ucp/eager/acknowledge.hpp"
#include "ucp/eager/front.hpp"
#include "ucp/proto/pipeline.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/proto/send.hpp"

namespace ucp {

namespace {

estimate probe(const lane_set& lanes, const send_class& send, std::size_t length) {
    if (send.on_device) return estimate::refused("the data is on a device");
    const bool sync = traits(send.kind).sync;
    if (!sync && length + only_overhead(send.kind) <= lanes.am->max_bcopy) {
        return estimate::refused("fits one buffer of the transport");
    }
    const double reply = sync ? lanes.am->latency + lanes.am->overhead : 0;
    return {pipeline_seconds(lanes, length) + reply};
}

struct multi_send : message_state {
    std::uint64_t number;  // of the message on its endpoint
    bool sent;             // all fragments have left
};

void write_data_header(const request& send, void* into) {
    const auto& state = send.as<multi_send>();
    const wire::eager_data_header header{send.via->remote_id(), state.number, state.offset};
    std::memcpy(into, &header, sizeof header);
}

constexpr fragment_writer data_fragments{wire::eager_data, sizeof(wire::eager_data_header),
                                         write_data_header};

// Called when all fragments have left; a synchronous send still waits for the acknowledgement.
void all_sent(request& send) {
    send.as<multi_send>().sent = true;
    if (send.state.send.local_id == 0) finish_send(send, UCS_OK);
}

std::size_t pack_first(void* arg, void* into, std::size_t capacity) {
    request& send = *static_cast<request*>(arg);
    auto& state = send.as<multi_send>();
    state.number = send.via->next_message();
    const wire::eager_first_header header{state.first_word, state.buffer.length(),
                                          send.via->remote_id(), state.number, state.local_id};
    std::memcpy(into, &header, sizeof header);
    auto* const bytes = static_cast<std::byte*>(into);
    const std::size_t front = sizeof header + write_header(state, bytes + sizeof header);
    state.offset = state.buffer.pack(bytes + front, 0, capacity - front);
    return front + state.offset;
}

ucs_status_t send_first(request& send) {
    // Counting begins before the first byte leaves, because the acknowledgement may arrive within
    // the call.
    send.as<multi_send>().sent = false;
    begin_fragments(send, send.state.send.buffer.length(), all_sent);
    const kind_traits& kind = traits(send.state.send.kind);
    if (kind.sync && !assign_id(send)) return UCS_ERR_NO_MEMORY;
    const ssize_t sent = send.via->lane().am_bcopy(kind.first, pack_first, &send);
    if (sent >= 0) return UCS_OK;
    release_id(send);
    return static_cast<ucs_status_t>(sent);
}

ucs_status_t progress(request& send) {
    if (!send.state.send.started) {
        const ucs_status_t status = send_first(send);
        if (status == UCS_ERR_NO_RESOURCE) return status;
        if (status != UCS_OK) {
            send.state.send.parts.count = 0;
            finish_send(send, status);
            return UCS_OK;
        }
        send.state.send.started = true;
    }
    return send_fragments(send, data_fragments);
}

}  // namespace

constinit const protocol eager_multi{"eager/multi",
                                     "copied in fragments, sender and receiver at the same time",
                                     probe, progress, false};

void eager_acknowledged(request& send, ucs_status_t status) {
    release_id(send);
    auto& state = send.as<multi_send>();
    if (state.sent) {
        finish_send(send, status);
    } else if (state.parts.status == UCS_OK) {
        state.parts.status = status;  // used when its fragments end
    }
}

}  // namespace ucp
