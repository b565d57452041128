// Protocol that sends the whole message inside the call, header and data in one piece.
#include "ucp/eager/front.hpp"
#include "ucp/proto/pipeline.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/proto/send.hpp"

namespace ucp {

namespace {

estimate probe(const lane_set& lanes, const send_class& send, std::size_t length) {
    if (traits(send.kind).sync) return estimate::refused("does not tell when it was matched");
    if (send.on_device) return estimate::refused("the data is on a device");
    if (!send.contiguous && length > 0) return estimate::refused("needs contiguous data");
    if (length > lanes.am->max_short) return estimate::refused("longer than the transport allows");
    const auto& threshold = lanes.options->bcopy_threshold;
    if (!threshold.is_auto() && length > threshold.bytes) {
        return estimate::refused("above UCX_BCOPY_THRESH");
    }
    return {lanes.am->latency + lanes.am->overhead + two_copies_seconds(lanes, length)};
}

ucs_status_t progress(request& send) {
    message_state& state = send.as<message_state>();
    if (state.header_length > 0 || has_reply_ep(state)) return send_one_buffer(send);
    const ucs_status_t status =
        send.via->lane().am_short(traits(state.kind).only, state.first_word,
                                  state.buffer.contiguous(), state.buffer.length());
    if (status != UCS_ERR_NO_RESOURCE) finish_send(send, status);
    return status == UCS_ERR_NO_RESOURCE ? status : UCS_OK;
}

}  // namespace

constinit const protocol eager_short{
    "eager/short", "sent inside the call, together with its header", probe, progress, false};

}  // namespace ucp
