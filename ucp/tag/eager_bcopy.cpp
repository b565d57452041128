// The whole message in one buffer of the transport, copied there.
#include <cstring>

#include "ucp/proto/pipeline.hpp"
#include "ucp/tag/protocols.hpp"
#include "ucp/tag/send.hpp"

namespace ucp {

namespace {

estimate probe(const lane_set& lanes, const send_class& what, std::size_t length) {
    if (what.sync) return estimate::refused("does not tell when it was matched");
    if (length + sizeof(wire::eager_only_header) > lanes.am->max_bcopy) {
        return estimate::refused("longer than one buffer of the transport");
    }
    const double wire = lanes.am->reach == uct::scope::network
                            ? static_cast<double>(length) / lanes.am->bandwidth
                            : 0;
    return {lanes.am->latency + lanes.am->overhead + lanes.costs->copy_overhead +
            two_copies_seconds(lanes, length) + wire};
}

std::size_t pack(void* arg, void* into, std::size_t capacity) {
    send_state& state = static_cast<request*>(arg)->state.send;
    const wire::eager_only_header header{state.tag};
    std::memcpy(into, &header, sizeof header);
    return sizeof header + state.buffer.pack(static_cast<std::byte*>(into) + sizeof header, 0,
                                             capacity - sizeof header);
}

ucs_status_t progress(request& send) {
    const ssize_t sent = send.via->lane().am_bcopy(wire::eager_only, pack, &send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    finish_send(send, sent >= 0 ? UCS_OK : static_cast<ucs_status_t>(sent));
    return UCS_OK;
}

}  // namespace

constinit const protocol eager_bcopy{"eager/bcopy", "copied into one buffer of the transport",
                                     probe, progress, false};

}  // namespace ucp
