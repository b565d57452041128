// Handlers of arriving stream bytes and credits. All data here comes from a peer and is checked.
#include "ucp/stream/arrivals.hpp"

#include <cstring>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/stream/endpoint.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

namespace {

// Returns the endpoint for which the bytes are, or nullptr.
ep* find_receiver(worker& owner, const wire::stream_data_header& header) noexcept {
    ep* const found = owner.endpoints().find(header.ep);
    return found == nullptr || wireup::is_incoming_over(*found) ? nullptr : found;
}

// If bytes are missing, the stream cannot continue, so the endpoint fails.
void fail(worker& owner, ep& broken, ucs_status_t status) {
    if (status == UCS_OK) return;
    if (status == UCS_ERR_EXCEEDS_LIMIT) {
        owner.log().rejected().warn(
            proto_log, "worker {:x} sent more of a stream than it may: its endpoint fails",
            broken.remote().uid());
    }
    wireup::handle(broken, wireup::event::failure, status);
}

wire::stream_data_header header_at(const void* bytes) noexcept {
    wire::stream_data_header header;
    std::memcpy(&header, bytes, sizeof header);
    return header;
}

void deliver_data(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::stream_data_header header;
    if (!read_header(owner, wire::stream_data, message, header)) return;
    ep* const receiver = find_receiver(owner, header);
    if (receiver == nullptr) {
        ucs::log::debug(proto_log, "bytes of a stream whose endpoint is gone were dropped");
        return;
    }
    const uct::peer_bytes data = message.after(sizeof header);
    fail(owner, *receiver, stream_of(*receiver).arrived(data.payload(), data.size()));
}

void* locate_data(void* arg, const void* header, std::size_t length) noexcept {
    const ep* const receiver = find_receiver(*static_cast<worker*>(arg), header_at(header));
    if (receiver == nullptr || opened_stream_of(*receiver) == nullptr) return nullptr;
    return opened_stream_of(*receiver)->receive_address(length);
}

void landed_data(void* arg, const void* header, std::size_t length) {
    worker& owner = *static_cast<worker*>(arg);
    ep* const receiver = find_receiver(owner, header_at(header));
    // The receive may have ended meanwhile; then its buffer must not be used.
    if (receiver == nullptr || opened_stream_of(*receiver)->receive_address(length) == nullptr)
        return;
    fail(owner, *receiver, opened_stream_of(*receiver)->landed(length));
}

void on_credit(worker& owner, const wire::stream_credit_header& header) {
    ep* const from = owner.endpoints().find(header.ep);
    if (from == nullptr || from->failure() != UCS_OK) return;
    if (header.limit == wire::no_reader) {
        note_reader_gone(*from);  // also for a stream that has not sent yet
    } else if (opened_stream_of(*from) != nullptr) {
        opened_stream_of(*from)->sends.raise_limit(header.limit);
    }
}

}  // namespace

void stream_listen(worker& owner, uct::iface& iface) {
    handler_of<wire::stream_data>::install<deliver_data, locate_data, landed_data>(
        iface, &owner, sizeof(wire::stream_data_header));
    handler_of<wire::stream_credit>::install_plain<wire::stream_credit_header, on_credit>(iface,
                                                                                          owner);
}

void stream_notify_no_reader(ep& closing) {
    const peer& reader = closing.remote();
    if (closing.remote_id() == closing.id() && reader.uid() == closing.owner().uid()) {
        note_reader_gone(closing);  // an endpoint to itself
        return;
    }
    const wire::stream_credit_header header{closing.remote_id(), wire::no_reader};
    closing.remote().control().send(wire::stream_credit, std::as_bytes(std::span(&header, 1)));
}

}  // namespace ucp
