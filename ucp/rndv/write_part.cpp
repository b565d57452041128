// The sender's half of a transfer that both sides carry out at the same time.
#include <array>

#include "ucp/core/log.hpp"
#include "ucp/rndv/answers.hpp"

namespace ucp {

namespace {

// The receiver hears how the writing ended and tells the sender when it has read its own part.
void part_written(uct::completion& parts) noexcept {
    request& send =
        request::of(*boost::intrusive::get_parent_from_member(&parts, &send_state::parts));
    const send_state& state = send.state.send;
    const ucs_status_t status = parts.status;
    if (state.aborted) {
        answer_receive(*state.holds, state.remote_id, UCS_ERR_CANCELED);
        finish_send(send, status);
        return;
    }
    answer_receive(send.via->remote(), state.remote_id,
                   status == UCS_OK ? UCS_OK : UCS_ERR_UNSUPPORTED);
    if (state.local_id == 0) finish_send(send, status);  // the receiver gave it up meanwhile
}

// Refusals and shortages alike: the receiver then gets everything another way.
ucs_status_t write_pieces(request& send, std::uint64_t address) {
    send_state& state = send.state.send;
    uct::ep* lane = send.via->remote().rma();
    if (lane == nullptr || state.buffer.contiguous() == nullptr) return UCS_ERR_UNSUPPORTED;
    const std::size_t limit = send.via->remote().rma_attr().max_rma;
    while (state.offset < state.end) {
        std::array<uct::iov, 1> piece;
        const dt::piece_list list =
            state.buffer.pieces(state.offset, std::min(limit, state.end - state.offset), piece);
        ++state.parts.count;
        const ucs_status_t status = lane->put_zcopy(piece, {address + state.offset}, &state.parts);
        if (status != UCS_INPROGRESS) --state.parts.count;
        if (status != UCS_OK && status != UCS_INPROGRESS) return status;
        state.offset += list.length;
    }
    return UCS_OK;
}

}  // namespace

void answer_receive(peer& to, std::uint64_t reply, ucs_status_t status) {
    const wire::atp_header header{reply, status};
    to.send_control(wire::rndv_atp, std::as_bytes(std::span(&header, 1)));
}

void rndv_write_part(request& send, const wire::rtr_header& where) {
    send_state& state = send.state.send;
    if (state.parts.count != 0 || where.from > state.buffer.length()) {
        send.owner->rejected().warn(proto_log,
                                    "a request to write a part of a message does not fit: dropped");
        return;
    }
    state.remote_id = where.reply;
    state.offset = where.from;
    state.end = state.buffer.length();
    state.parts = {.done = part_written, .count = 1};
    state.parts.finish(write_pieces(send, where.address));
}

}  // namespace ucp
