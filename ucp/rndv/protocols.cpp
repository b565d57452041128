// Rows of the rendezvous protocols. With both, the sender sends an RTS, and the receiver chooses
// how the data moves.
#include "ucp/proto/pipeline.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/rndv/sender.hpp"

namespace ucp {

namespace {

estimate probe_in_place(const lane_set& lanes, const send_class& sends, std::size_t length) {
    if (sends.on_device && lanes.device == nullptr)
        return estimate::refused("no lane reaches memory of the sender's devices");
    if (!sends.on_device && lanes.rma == nullptr)
        return estimate::refused("no lane reads the sender's memory");
    if (!sends.contiguous) return estimate::refused("needs contiguous data");
    if (length == 0) return estimate::refused("an empty message has nothing to read");
    if (lanes.options->scheme == rndv_scheme::am) return estimate::refused("UCX_RNDV_SCHEME=am");
    if (wants_writing(lanes.options->scheme)) {
        return estimate::refused("UCX_RNDV_SCHEME=put_zcopy or put_ppln");
    }
    // RTS, read, acknowledgement.
    if (sends.on_device) return {2 * control_seconds(lanes) + device_seconds(lanes, length)};
    return {2 * control_seconds(lanes) + read_seconds(lanes, length)};
}

ucs_status_t progress_in_place(request& send) {
    return send_rts(send, true);
}

estimate probe_stream(const lane_set& lanes, const send_class& sends, std::size_t length) {
    if (length == 0) return estimate::refused("an empty message has nothing to stream");
    const bool can_be_read = (sends.on_device ? lanes.device : lanes.rma) != nullptr;
    if (lanes.options->scheme == rndv_scheme::get_zcopy && can_be_read && sends.contiguous) {
        return estimate::refused("UCX_RNDV_SCHEME=get_zcopy");
    }
    // RTS and data request, then the data.
    const double staging = sends.on_device ? 2 * staging_seconds(lanes, length) : 0;
    return {2 * control_seconds(lanes) + pipeline_seconds(lanes, length) + staging};
}

// The receiver may know better which method is fastest.
ucs_status_t progress_stream(request& send) {
    const config& options = send.owner->owner().options();
    const peer& to = send.via->remote();
    // Exposing memory by keys costs time.
    const bool free_to_read = to.lanes().rma() != nullptr && to.lanes().rail_count() == 0;
    return send_rts(send, options.scheme == rndv_scheme::automatic && free_to_read);
}

}  // namespace

// The data moves between the buffers of both sides: the receiver reads, or the sender writes.
constinit const protocol rndv_in_place{
    "rndv/get",
    "announced; the receiver reads the sender's memory, alone or one half each",
    probe_in_place,
    progress_in_place,
    true,
    keep_exposed,
    lane_use::message,
    end_rndv};

// The sender streams the data in fragments straight into the receiver's buffer. In shared memory
// both sides copy at the same time through a ring that stays in the cache.
constinit const protocol rndv_stream{
    "rndv/stream",
    "announced, then copied in fragments by both sides at the same time",
    probe_stream,
    progress_stream,
    true,
    keep_exposed,
    lane_use::message,
    end_rndv};

}  // namespace ucp
