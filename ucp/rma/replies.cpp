// Handlers of replies from the owner of remote memory: data, results, confirmations. All of it is
// checked; a reply that matches no request is dropped.
#include <cstring>

#include "ucp/core/handler.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/target.hpp"
#include "ucp/rma/wire.hpp"

namespace ucp {

namespace {

// Returns the running operation with this id and kind that goes by messages, or nullptr.
request* find_operation(worker& owner, std::uint64_t id, send_kind kind) noexcept {
    request* const found = find_send(owner, id);
    return found != nullptr && found->state.send.kind == kind ? found : nullptr;
}

// Returns the get to which this piece of data belongs, or nullptr.
request* find_get(worker& owner, const wire::get_data_header& header, std::size_t length) noexcept {
    request* const get = find_operation(owner, header.reply, send_kind::get);
    if (get == nullptr) return nullptr;
    const send_state& state = get->state.send;
    const bool fits =
        header.offset == state.offset && length <= state.buffer.length() - state.offset;
    return fits ? get : nullptr;
}

void advance(request& get, std::size_t length) {
    send_state& state = get.state.send;
    state.offset += length;
    if (state.offset == state.buffer.length()) end_answered(get, UCS_OK);
}

void deliver_data(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::get_data_header header;
    if (!read_header(owner, wire::rma_data, message, header)) return;
    const uct::peer_bytes data = message.after(sizeof header);
    request* const get = find_get(owner, header, data.size());
    if (get == nullptr) {
        ucs::log::debug(proto_log, "data for a get that is gone was dropped");
        return;
    }
    scatter(get->state.send, header.offset, data.payload(), data.size());
    advance(*get, data.size());
}

void* locate_data(void* arg, const void* header_bytes, std::size_t length) noexcept {
    wire::get_data_header header;
    std::memcpy(&header, header_bytes, sizeof header);
    const request* const get = find_get(*static_cast<worker*>(arg), header, length);
    if (get == nullptr || get->state.send.buffer.contiguous() == nullptr) return nullptr;
    auto* const base = static_cast<const std::byte*>(get->state.send.buffer.contiguous());
    return const_cast<std::byte*>(base) + header.offset;
}

void landed_data(void* arg, const void* header_bytes, std::size_t length) {
    wire::get_data_header header;
    std::memcpy(&header, header_bytes, sizeof header);
    request* const get = find_get(*static_cast<worker*>(arg), header, length);
    if (get != nullptr) advance(*get, length);
}

void on_result(worker& owner, const wire::result_header& header) {
    const ucs_status_t status = wire::known_status(header.status);
    if (request* const atomic = find_operation(owner, header.reply, send_kind::atomic);
        atomic != nullptr) {
        send_state& state = atomic->state.send;
        if (status == UCS_OK) scatter(state, 0, &header.value, state.buffer.length());
        end_answered(*atomic, status);
        return;
    }
    request* const get = find_operation(owner, header.reply, send_kind::get);
    if (get == nullptr) return;  // both sides may end the get at the same time
    if (status == UCS_OK) {
        owner.log().rejected().warn(proto_log, "the end of get {:x} came before its data: dropped",
                                    header.reply);
        return;
    }
    end_answered(*get, status);
}

void on_confirmed(worker& owner, const wire::confirmed_header& header) {
    ep* const endpoint = owner.endpoints().find(header.ep);
    if (endpoint == nullptr) return;
    if (!confirm(*endpoint, header.count, wire::known_status(header.status))) {
        owner.log().rejected().warn(
            proto_log,
            "worker {:x} confirms {} operations, about which it was not asked: "
            "dropped",
            endpoint->remote().uid(), header.count);
    }
}

}  // namespace

void rma_listen_replies(worker& owner, uct::iface& iface) {
    handler_of<wire::rma_data>::install<deliver_data, locate_data, landed_data>(
        iface, &owner, sizeof(wire::get_data_header));
    handler_of<wire::rma_result>::install_plain<wire::result_header, on_result>(iface, owner);
    handler_of<wire::rma_confirmed>::install_plain<wire::confirmed_header, on_confirmed>(iface,
                                                                                         owner);
}

}  // namespace ucp
