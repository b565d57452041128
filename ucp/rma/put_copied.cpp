// Short puts by a lane that reaches the peer's memory by keys. The lane copies the data, so these
// puts complete at once; a flush of the lane ends when the data has arrived.
#include <cstring>

#include "ucp/core/peer.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/remote_op.hpp"

namespace ucp {

namespace {

std::size_t pack_data(void* arg, void* into, std::size_t) {
    send_state& state = static_cast<request*>(arg)->state.send;
    return state.buffer.pack(static_cast<std::byte*>(into), 0, state.buffer.length());
}

ucs_status_t put(request& send) {
    auto& state = send.as<remote_op>();
    const peer& to = send.via->remote();
    uct::ep& lane = to.lanes().rma_lane();
    const std::size_t length = state.buffer.length();
    const uct::remote_place target{state.address, state.key->key_for(to.lanes().rma_device())};
    const void* const bytes = state.buffer.contiguous();
    if (bytes != nullptr && length <= to.lanes().rma_attr().max_put_short) {
        return lane.put_short(bytes, length, target);
    }
    const ssize_t sent = lane.put_bcopy(pack_data, &send, target);
    return sent < 0 ? static_cast<ucs_status_t>(sent) : UCS_OK;
}

ucs_status_t progress_put(request& send) {
    const ucs_status_t status = put(send);
    if (status == UCS_ERR_NO_RESOURCE) return status;
    if (status == UCS_OK) note_copied(*send.via);
    finish_send(send, status);
    return UCS_OK;
}

void flushed(uct::completion& parts) noexcept {
    request& send =
        request::of(*boost::intrusive::get_parent_from_member(&parts, &send_state::parts));
    if (send.state.send.holds == nullptr) note_lane_flushed(*send.via);
    finish_send(send, parts.status);
}

ucs_status_t progress_flush(request& send) {
    send_state& state = send.state.send;
    state.parts = {.done = flushed, .count = 1};
    const ucs_status_t status = send.via->remote().lanes().rma_lane().flush(&state.parts);
    if (status == UCS_INPROGRESS) return UCS_OK;
    state.parts.count = 0;
    if (status == UCS_ERR_NO_RESOURCE) return status;
    note_lane_flushed(*send.via);
    finish_send(send, status);
    return UCS_OK;
}

}  // namespace

constinit const protocol rma_put_copied{
    "rma/put_copied", "copied, and written by the device", nullptr, progress_put, false, nullptr,
    lane_use::memory};
constinit const protocol rma_lane_flush{
    "rma/flush",     "waits until the device has written", nullptr, progress_flush, false, nullptr,
    lane_use::memory};

}  // namespace ucp
