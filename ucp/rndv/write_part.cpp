// The sender's half of a transfer that both sides carry out at the same time.
#include <array>

#include "ucp/core/log.hpp"
#include "ucp/rndv/start.hpp"

namespace ucp {

namespace {

void tell(request& send, std::uint64_t reply, ucs_status_t status) {
    const wire::atp_header header{reply, status};
    send.via->remote().send_control(wire::rndv_atp, std::as_bytes(std::span(&header, 1)));
}

ucs_status_t write_now(request& send, const wire::rtr_header& where) {
    send_state& state = send.state.send;
    uct::ep* lane = send.via->remote().rma();
    const std::size_t total = state.buffer.length();
    if (lane == nullptr || where.from > total || state.buffer.contiguous() == nullptr) {
        return UCS_ERR_UNSUPPORTED;
    }
    std::array<uct::iov, 1> piece;
    state.buffer.pieces(where.from, total - where.from, piece);
    // A lane that would finish later is not used for this: the other side reads instead.
    return lane->put_zcopy(piece, where.address + where.from, nullptr);
}

}  // namespace

void rndv_write_part(request& send, const wire::rtr_header& where) {
    tell(send, where.reply, write_now(send, where));
}

}  // namespace ucp
