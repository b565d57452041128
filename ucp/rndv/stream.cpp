// Rendezvous protocol rndv/stream: the sender sends an RTS and, when the receiver requests the
// data, streams it in fragments straight into the receiver's buffer. In shared memory both sides
// copy at the same time through a ring that stays in the cache.
#include <cstring>

#include "ucp/proto/pipeline.hpp"
#include "ucp/proto/rows.hpp"
#include "ucp/rndv/replies.hpp"
#include "ucp/rndv/start.hpp"

namespace ucp {

namespace {

estimate probe(const lane_set& lanes, const send_class& sends, std::size_t length) {
    if (length == 0) return estimate::refused("an empty message has nothing to stream");
    if (lanes.options->scheme == rndv_scheme::get_zcopy && lanes.rma != nullptr &&
        sends.contiguous) {
        return estimate::refused("UCX_RNDV_SCHEME=get_zcopy");
    }
    // RTS and data request, then the data.
    return {2 * control_seconds(lanes) + pipeline_seconds(lanes, length)};
}

// The receiver may know better which method is fastest.
ucs_status_t progress(request& send) {
    const config& options = send.owner->owner().options();
    const peer& to = send.via->remote();
    // Exposing memory by keys costs time.
    const bool free_to_read = to.rma() != nullptr && to.rail_count() == 0;
    return send_rts(send, options.scheme == rndv_scheme::automatic && free_to_read);
}

void write_header(const request& send, void* into) {
    const wire::data_header header{send.state.send.remote_id, send.state.send.offset};
    std::memcpy(into, &header, sizeof header);
}

constexpr fragment_writer fragments{wire::rndv_data, sizeof(wire::data_header), write_header};

ucs_status_t progress_data(request& send) {
    return send_fragments(send, fragments);
}

// The second phase; it is never selected, so it has no prediction.
constinit const protocol data_phase{"rndv/stream", "", nullptr, progress_data, true};

}  // namespace

constinit const protocol rndv_stream{
    "rndv/stream", "announced, then copied in fragments by both sides at the same time", probe,
    progress, true};

void rndv_stream_data(request& send, std::uint64_t reply) {
    send_state& state = send.state.send;
    release_id(send);
    state.remote_id = reply;
    state.offset = 0;
    state.proto = &data_phase;
    begin_fragments(send, state.buffer.length(), [](request& done) { finish_send(done, UCS_OK); });
    uct::ep& lane = send.via->lane();
    if (progress_data(send) == UCS_ERR_NO_RESOURCE) lane.pending_add(send.pending);
}

}  // namespace ucp
