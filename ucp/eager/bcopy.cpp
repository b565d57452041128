// Protocol that copies the whole message into one buffer of the transport.
#include <cstring>

#include "ucp/eager/front.hpp"
#include "ucp/proto/pipeline.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/proto/send.hpp"

namespace ucp {

namespace {

estimate probe(const lane_set& lanes, const send_class& send, std::size_t length) {
    if (traits(send.kind).sync) return estimate::refused("does not tell when it was matched");
    if (send.on_device) return estimate::refused("the data is on a device");
    if (length + only_overhead(send.kind) > lanes.am->max_bcopy) {
        return estimate::refused("longer than one buffer of the transport");
    }
    const double wire = lanes.am->reach == uct::scope::network
                            ? static_cast<double>(length) / lanes.am->bandwidth
                            : 0;
    return {lanes.am->latency + lanes.am->overhead + lanes.costs->copy_overhead +
            two_copies_seconds(lanes, length) + wire};
}

std::size_t pack(void* arg, void* into, std::size_t capacity) {
    request& send = *static_cast<request*>(arg);
    message_state& state = send.as<message_state>();
    const wire::eager_only_header header{state.first_word};
    std::memcpy(into, &header, sizeof header);
    auto* const bytes = static_cast<std::byte*>(into);
    const std::size_t front = sizeof header + write_front(send, bytes + sizeof header);
    return front + state.buffer.pack(bytes + front, 0, capacity - front);
}

}  // namespace

ucs_status_t send_one_buffer(request& send) {
    const ssize_t sent = send.via->lane().am_bcopy(traits(send.state.send.kind).only, pack, &send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    finish_send(send, sent >= 0 ? UCS_OK : static_cast<ucs_status_t>(sent));
    return UCS_OK;
}

constinit const protocol eager_bcopy{"eager/bcopy", "copied into one buffer of the transport",
                                     probe, send_one_buffer, false};

}  // namespace ucp
