// Active messages: inline, copied, and zero-copy.
#include <cstring>

#include "uct/ib/rc/verbs/ep.hpp"

namespace uct::rc {
namespace {

ibv_send_wr send_of(std::span<ibv_sge> pieces) noexcept {
    ibv_send_wr request{};
    request.sg_list = pieces.data();
    request.num_sge = static_cast<int>(pieces.size());
    request.opcode = IBV_WR_SEND;
    return request;
}

}  // namespace

ucs_status_t verbs_ep::am_short(am_id id, std::uint64_t header, const void* payload,
                                std::size_t length) {
    if (!may_send()) [[unlikely]]
        return reason_not_to_send();
    struct __attribute__((packed)) {
        std::uint8_t first;
        std::uint64_t header;
    } front{this->header(id), header};
    static_assert(sizeof front == wire::header_size + sizeof header);
    if (sizeof front + length > own().inline_bytes()) [[unlikely]] {
        return copied_short(id, header, payload, length);
    }
    ibv_sge pieces[2] = {
        {reinterpret_cast<std::uint64_t>(&front), sizeof front, 0},
        {reinterpret_cast<std::uint64_t>(payload), static_cast<std::uint32_t>(length), 0}};
    ibv_send_wr request = send_of(std::span(pieces).first(length == 0 ? 1 : 2));
    request.send_flags = IBV_SEND_INLINE;
    const ucs_status_t status = post_message(request, false);
    if (status == UCS_OK) [[likely]]
        count(sizeof header + length);
    return status;
}

// Used if a short message does not fit into the inline data of a request.
ucs_status_t verbs_ep::copied_short(am_id id, std::uint64_t header, const void* payload,
                                    std::size_t length) {
    if (length > owner().attr().max_short) return UCS_ERR_INVALID_PARAM;
    struct both {
        std::uint64_t header;
        const void* payload;
        std::size_t length;
    } message{header, payload, length};
    const ssize_t sent = am_bcopy(
        id,
        [](void* arg, void* into, std::size_t) {
            const auto& from = *static_cast<const both*>(arg);
            std::memcpy(into, &from.header, sizeof from.header);
            if (from.length > 0) {
                std::memcpy(static_cast<std::byte*>(into) + sizeof from.header, from.payload,
                            from.length);
            }
            return sizeof from.header + from.length;
        },
        &message);
    return sent < 0 ? static_cast<ucs_status_t>(sent) : UCS_OK;
}

ssize_t verbs_ep::am_bcopy(am_id id, pack_function pack, void* arg) {
    if (!may_send()) [[unlikely]]
        return reason_not_to_send();
    bounce* const buffer = own().pools().get_bounce();
    if (buffer == nullptr) return UCS_ERR_NO_MEMORY;
    buffer->data[0] = std::byte{header(id)};
    const std::size_t length = pack(arg, buffer->message(), owner().attr().max_bcopy);
    ibv_sge piece = buffer->piece(buffer->data, wire::header_size + length);
    ibv_send_wr request = send_of({&piece, 1});
    if (const ucs_status_t status = post_message(request, false); status != UCS_OK) {
        descriptors::put(*buffer);
        return status;
    }
    buffer->finish = bounce::end;
    connection_->add(*buffer);
    count(length);
    return static_cast<ssize_t>(length);
}

ucs_status_t verbs_ep::am_zcopy(am_id id, std::span<const std::byte> header,
                                std::span<const iov> payload, completion* done) {
    const iface_attr& limits = owner().attr();
    const std::size_t length = header.size() + total_length(payload);
    if (header.size() > limits.max_zcopy_header || payload.size() > limits.max_iov ||
        length > limits.max_zcopy) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (!may_send()) [[unlikely]]
        return reason_not_to_send();
    direct* const op = own().pools().get_direct();
    if (op == nullptr) return UCS_ERR_NO_MEMORY;
    ibv_sge pieces[1 + ib::local_pieces::most];
    op->bytes[0] = std::byte{this->header(id)};
    if (!header.empty()) {
        std::memcpy(op->bytes.data() + wire::header_size, header.data(), header.size());
    }
    pieces[0] = op->extra_piece(wire::header_size + header.size());
    ucs_status_t status =
        op->pieces.use(own().device(), payload, memory_access::read, std::span(pieces).subspan(1));
    if (status == UCS_OK) {
        ibv_send_wr request = send_of(std::span(pieces).first(1 + op->pieces.count()));
        status = post_message(request, true);
    }
    return begun(*op, status, length, done);
}

ucs_status_t verbs_ep::begun(direct& op, ucs_status_t status, std::size_t length,
                             completion* done) noexcept {
    if (status != UCS_OK) {
        op.put_back();
        return status;
    }
    op.done = done;
    op.finish = direct::end;
    connection_->add(op);
    count(length);
    return UCS_INPROGRESS;
}

}  // namespace uct::rc
