// Reads and writes of a peer's memory.
#include <cstring>

#include "uct/ib/rc/verbs/ep.hpp"

namespace uct::rc {
namespace {

ibv_send_wr access_of(ibv_wr_opcode opcode, std::span<ibv_sge> pieces,
                      const remote_place& where) noexcept {
    ibv_send_wr request{};
    request.sg_list = pieces.data();
    // Operations on 0 bytes have no piece.
    const bool nothing = pieces.size() == 1 && pieces.front().length == 0;
    request.num_sge = nothing ? 0 : static_cast<int>(pieces.size());
    request.opcode = opcode;
    request.wr.rdma.remote_addr = where.address;
    request.wr.rdma.rkey = static_cast<const ib::remote_region&>(*where.in).key();
    return request;
}

void finish_read(tx_op& self) noexcept {
    auto& op = static_cast<bounce&>(self);
    if (op.status == UCS_OK && op.length > 0) std::memcpy(op.into, op.data, op.length);
    completion* const done = op.done;
    const ucs_status_t status = op.status;
    op.for_user = op.holds_memory = false;
    descriptors::put(op);
    if (done != nullptr) done->finish(status);
}

}  // namespace

ucs_status_t verbs_ep::put_short(const void* from, std::size_t length, const remote_place& to) {
    if (length > owner().attr().max_put_short) return UCS_ERR_INVALID_PARAM;
    if (length > own().inline_bytes()) [[unlikely]] {
        iov source{const_cast<void*>(from), length};
        const ssize_t put = put_bcopy(
            [](void* arg, void* into, std::size_t) {
                const iov& bytes = *static_cast<const iov*>(arg);
                if (bytes.length > 0) std::memcpy(into, bytes.base, bytes.length);
                return bytes.length;
            },
            &source, to);
        return put < 0 ? static_cast<ucs_status_t>(put) : UCS_OK;
    }
    if (!may_access()) [[unlikely]]
        return reason_not_to_send();
    ibv_sge piece{reinterpret_cast<std::uint64_t>(from), static_cast<std::uint32_t>(length), 0};
    ibv_send_wr request = access_of(IBV_WR_RDMA_WRITE, {&piece, 1}, to);
    request.send_flags = IBV_SEND_INLINE;
    const ucs_status_t status = post(request, false);
    if (status == UCS_OK) [[likely]]
        count(length);
    return status;
}

ssize_t verbs_ep::put_bcopy(pack_function pack, void* arg, const remote_place& to) {
    if (!may_access()) [[unlikely]]
        return reason_not_to_send();
    bounce* const buffer = own().pools().get_bounce();
    if (buffer == nullptr) return UCS_ERR_NO_MEMORY;
    const std::size_t length = pack(arg, buffer->data, owner().attr().max_put_bcopy);
    ibv_sge piece = buffer->piece(buffer->data, length);
    ibv_send_wr request = access_of(IBV_WR_RDMA_WRITE, {&piece, 1}, to);
    if (const ucs_status_t status = post(request, false); status != UCS_OK) {
        descriptors::put(*buffer);
        return status;
    }
    buffer->finish = bounce::end;
    connection_->add(*buffer);
    count(length);
    return static_cast<ssize_t>(length);
}

ucs_status_t verbs_ep::get_bcopy(void* into, std::size_t length, const remote_place& from,
                                 completion* done) {
    if (length > owner().attr().max_get_bcopy) return UCS_ERR_INVALID_PARAM;
    if (!may_access()) [[unlikely]]
        return reason_not_to_send();
    bounce* const buffer = own().pools().get_bounce();
    if (buffer == nullptr) return UCS_ERR_NO_MEMORY;
    ibv_sge piece = buffer->piece(buffer->data, length);
    ibv_send_wr request = access_of(IBV_WR_RDMA_READ, {&piece, 1}, from);
    if (const ucs_status_t status = post(request, true); status != UCS_OK) {
        descriptors::put(*buffer);
        return status;
    }
    buffer->into = into;
    buffer->length = length;
    buffer->done = done;
    // The buffer is not returned before the data has been written to it.
    buffer->for_user = buffer->holds_memory = true;
    buffer->finish = finish_read;
    connection_->add(*buffer);
    count(length);
    return UCS_INPROGRESS;
}

ucs_status_t verbs_ep::put_zcopy(std::span<const iov> from, const remote_place& to,
                                 completion* done) {
    return access(IBV_WR_RDMA_WRITE, from, to, done);
}

// Requests of a connection are carried out in order, and the data of a write is in place when a
// later message arrives (InfiniBand specification, volume 1, section 9.5, transaction ordering).
ucs_status_t verbs_ep::put_zcopy_and_notify(std::span<const iov> from, const remote_place& to,
                                            am_id id, std::span<const std::byte> message,
                                            completion* done) {
    const iface_attr& limits = owner().attr();
    const std::size_t length = total_length(from);
    if (message.size() > max_notification) return UCS_ERR_INVALID_PARAM;
    if (from.size() > limits.max_iov || length > limits.max_rma ||
        !connection_->queue().can_hold(2)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (!may_send() || !connection_->queue().has_room(2)) [[unlikely]]
        return reason_not_to_send();
    direct* const op = own().pools().get_direct();
    if (op == nullptr) return UCS_ERR_NO_MEMORY;
    ibv_sge list[ib::local_pieces::most];
    ucs_status_t status = op->pieces.use(own().device(), from, memory_access::read, list);
    if (status != UCS_OK) return begun(*op, status, length, done);
    ibv_send_wr write = access_of(IBV_WR_RDMA_WRITE, std::span(list).first(op->pieces.count()), to);
    op->bytes[0] = std::byte{header(id)};
    std::memcpy(op->bytes.data() + wire::header_size, message.data(), message.size());
    ibv_sge word = op->extra_piece(wire::header_size + message.size());
    ibv_send_wr tell{};
    tell.sg_list = &word;
    tell.num_sge = 1;
    tell.opcode = IBV_WR_SEND;
    if (word.length <= own().inline_bytes()) tell.send_flags = IBV_SEND_INLINE;
    op->done = done;
    op->finish = direct::end;
    status = post_pair(write, tell, *op);
    if (status != UCS_OK) {
        op->put_back();
        return status;
    }
    count(length);
    return UCS_INPROGRESS;
}

ucs_status_t verbs_ep::get_zcopy(std::span<const iov> into, const remote_place& from,
                                 completion* done) {
    return access(IBV_WR_RDMA_READ, into, from, done);
}

ucs_status_t verbs_ep::access(ibv_wr_opcode opcode, std::span<const iov> pieces,
                              const remote_place& where, completion* done) {
    const iface_attr& limits = owner().attr();
    const std::size_t length = total_length(pieces);
    if (pieces.size() > limits.max_iov || length > limits.max_rma) return UCS_ERR_INVALID_PARAM;
    if (!may_access()) [[unlikely]]
        return reason_not_to_send();
    direct* const op = own().pools().get_direct();
    if (op == nullptr) return UCS_ERR_NO_MEMORY;
    ibv_sge list[ib::local_pieces::most];
    const auto access = opcode == IBV_WR_RDMA_READ ? memory_access::change : memory_access::read;
    ucs_status_t status = op->pieces.use(own().device(), pieces, access, list);
    if (status == UCS_OK) {
        ibv_send_wr request = access_of(opcode, std::span(list).first(op->pieces.count()), where);
        status = post(request, true);
    }
    return begun(*op, status, length, done);
}

}  // namespace uct::rc
