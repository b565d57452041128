// Active messages on the program's side: calls handlers, receives or releases kept data.
#include "ucp/am/receiver.hpp"

#include <iterator>

#include "ucp/core/complete.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/receive.hpp"
#include "ucp/rndv/receiver.hpp"

namespace ucp {

am_receiver::am_receiver(worker& owner) noexcept
    : owner_(owner), blocks_(owner.params().am_alignment) {}

void am_receiver::limit_headers() noexcept {
    bool by_keys = false;
    std::size_t longest = wire::am_longest_header + wire::am_longest_extra;
    for (std::size_t i = 0; i < owner_.interfaces().size(); ++i) {
        const uct::iface* const each = owner_.interfaces().at(i);
        if (each == nullptr) continue;
        by_keys = by_keys || each->attr().keyed;
        if (each->attr().ops.has(uct::op::am_bcopy))
            longest = std::min(longest, each->attr().max_bcopy);
    }
    const std::size_t other_bytes = wire::am_longest_extra - (by_keys ? 0 : longest_exposed_keys);
    max_header_ = std::min(max_header_, longest - std::min(longest, other_bytes));
}

am_receiver::~am_receiver() {
    while (!kept_.empty())
        consume(kept_.front());
}

std::size_t am_receiver::kept_count() const noexcept {
    return static_cast<std::size_t>(std::distance(kept_.begin(), kept_.end()));
}

ucs_status_t am_receiver::call(const am_handler& handler, const arrival& message, void* data,
                               std::size_t length, std::uint64_t attributes) {
    const auto reply_ep = reinterpret_cast<ucp_ep_h>(message.reply_ep);
    if (handler.call_older != nullptr) {
        const unsigned flags =
            (attributes & UCP_AM_RECV_ATTR_FLAG_DATA) != 0 ? UCP_CB_PARAM_FLAG_DATA : 0;
        return handler.call_older(handler.arg, data, length, reply_ep, flags);
    }
    if (reply_ep != nullptr) attributes |= UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
    const ucp_am_recv_param_t param{attributes, reply_ep};
    const std::size_t header_length = message.fields.header_length;
    return handler.call(handler.arg, header_length > 0 ? message.header : nullptr, header_length,
                        data, length, &param);
}

// Returns the block to the pool. While the handler runs, the caller of the handler does this
// instead.
void am_receiver::consume(am_block& block) noexcept {
    discharge(block);
    blocks_.put(block);
}

void am_receiver::return_block(am_block& kept) noexcept {
    if (kept.state == am_block::use::in_handler) {
        kept.state = am_block::use::returned;
        kept.sender_hook.unlink();
    } else {
        consume(kept);
    }
}

// Reports `status` to the sender of an RTS.
void am_receiver::refuse(am_block& unwanted, ucs_status_t status) {
    if (unwanted.is_rendezvous() && unwanted.lost_status == UCS_OK) {
        const ep* from = owner_.endpoints().find(unwanted.from);
        if (from != nullptr) send_ats(*from, unwanted.rts.request, status);
    }
    return_block(unwanted);
}

void am_receiver::release(am_block& kept) {
    refuse(kept, UCS_OK);
}

ucs_status_ptr_t am_receiver::receive_data(am_block& kept, void* buffer, std::size_t count,
                                           const operation& params) {
    request* const receive = begin_call(owner_, params);
    if (receive == nullptr) {
        refuse(kept, UCS_ERR_NO_MEMORY);
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }
    receive->callback.recv_data = params.recv_data_callback();
    if (receive->callback.recv_data != nullptr) receive->flags.set(request_flags::has_callback);
    recv_state& state = receive->start_recv(request_kind::recv_data);
    const ucs_status_t status = state.buffer.init(buffer, count, params.datatype());
    if (status != UCS_OK) {
        refuse(kept, UCS_ERR_CANCELED);
        return abandon_call(*receive, status);
    }
    receive->flags.set(request_flags::matched);
    state.info = {0, kept.length};
    state.begin_transfer();
    if (kept.is_rendezvous()) {
        receive_rendezvous(*receive, kept);
    } else {
        staged_sink::attach(*receive, state.buffer, kept.length);
        const ucs_status_t copied = state.buffer.unpack(kept.data(), 0, kept.length);
        return_block(kept);
        finish_receive(*receive, copied);
    }
    if (receive->flags.has(request_flags::ended) && params.length_info() != nullptr) {
        *params.length_info() = state.info.length;
    }
    return end_call(*receive, params);
}

void am_receiver::receive_rendezvous(request& receive, am_block& kept) {
    ep* const from = kept.lost_status == UCS_OK ? owner_.endpoints().find(kept.from) : nullptr;
    rts_info rts = std::move(kept.rts);
    return_block(kept);
    if (from == nullptr) {
        finish_receive(receive, UCS_ERR_CONNECTION_RESET);
        return;
    }
    receive.via = from;
    from->operations().add_receive(receive);
    rndv_receive(receive, *from, std::move(rts));
}

}  // namespace ucp
