#include "ucp/rndv/replies.hpp"

#include "ucp/core/complete.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"

namespace ucp {

namespace {

// Logs an invalid message; a peer may send anything.
void reject(worker& owner, const char* message, std::uint64_t send, const char* why) {
    owner.rejected().warn(proto_log, "{} names send {:x}, which {}: dropped", message, send, why);
}

// Returns whether the send waits for room on its lane. Then it must neither end nor begin a second
// time.
bool is_queued(const request& send) noexcept {
    return send.pending.pending_hook.is_linked();
}

// Notifies a receive that waits for the reply of a send that is gone. The message names the
// endpoint of the send. If that is gone as well, the receiver learns the end of the endpoint.
void notify_of_gone_send(worker& owner, std::uint64_t ep_id, std::uint64_t reply) {
    const ep* asked = owner.find_ep(ep_id);
    if (asked != nullptr) notify_receive(asked->remote(), reply, UCS_ERR_CANCELED);
}

// The receiver of an aborted send has finished with the send's memory.
void release_exposed(worker& owner, std::uint64_t ep_id, std::uint64_t send) {
    const ep* asked = owner.find_ep(ep_id);
    if (asked != nullptr) asked->remote().release_exposed(send);
}

// Returns the peer that requested data of a send which is gone, perhaps with its endpoint. Returns
// nullptr if the peer is gone as well, and with it the lanes, which the other side notices; or if
// too many replies wait for it. Any process can name the uid of another worker, and that worker
// must not fail for requests that it has not sent: only few replies wait for one worker, unless the
// request came over its own connection.
peer* find_asking(worker& owner, const wire::rtr_header& asked, const uct::peer_bytes& message) {
    const ep* const over = owner.find_ep(asked.ep);
    if (over != nullptr) return &over->remote();
    peer* const named =
        owner.find_peer_if(asked.uid, [](const peer& each) { return each.connected(); });
    if (named == nullptr || named->has_room_for_strangers()) return named;
    const std::uint64_t connection = owner.connection_of(message);
    if (connection != 0 && connection == named->connection()) return named;
    reject(owner, "a request for data", asked.request,
           "is gone, and too many replies wait for its receiver");
    return nullptr;
}

void on_rtr(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::rtr_header header;
    if (!read_header(owner, wire::rndv_rtr, message, header)) return;
    // take_keys() copies the key.
    const std::span key(message.payload() + sizeof header, message.size() - sizeof header);
    request* send = find_send(owner, header.request);
    if (send == nullptr) {
        ucs::log::debug(proto_log, "data was requested of a send that is gone");
        peer* const receiver = find_asking(owner, header, message);
        if (receiver == nullptr) return;
        receiver->release_exposed(header.request);
        // The receive must not end before it knows that its buffer is not written any more.
        if (header.address != 0) notify_receive(*receiver, header.reply, UCS_ERR_CANCELED);
        return;
    }
    if (send->via != owner.find_ep(header.ep) || !send->state.send.proto->rendezvous) {
        reject(owner, "a request for data", header.request, "was not announced on that endpoint");
    } else if (send->state.send.parts.count != 0 || is_queued(*send)) {
        reject(owner, "a request for data", header.request,
               "has sent no RTS yet, or is being written already");
    } else {
        peer& receiver = send->via->remote();
        const bool more = receiver.on_rts_answered(*send);
        if (header.address != 0) {
            rndv_write_part(*send, header, key);
        } else {
            rndv_stream_data(*send, header.reply);
        }
        if (more) receiver.send_deferred();  // after the data
    }
}

void on_ats(worker& owner, const wire::ats_header& header) {
    request* send = find_send(owner, header.request);
    if (send == nullptr) {  // both sides may end the send at the same time
        release_exposed(owner, header.ep, header.request);
        if (header.reply != 0) notify_of_gone_send(owner, header.ep, header.reply);
        return;
    }
    const ucs_status_t status = wire::known_status(header.status);
    uct::completion& parts = send->state.send.parts;
    peer& receiver = send->via->remote();
    const bool more = receiver.on_rts_answered(*send);
    const bool is_writing = parts.count != 0 || is_sending_atp(*send);
    if (!send->state.send.proto->rendezvous || (is_queued(*send) && !is_writing)) {
        reject(owner, "the end of a transfer", header.request, "has sent no RTS");
    } else if (!is_writing) {
        if (header.reply != 0) notify_receive(send->via->remote(), header.reply, UCS_OK);
        finish_send(*send, status);
    } else if (status == UCS_OK) {
        reject(owner, "the end of a transfer", header.request, "is still being written");
    } else {
        // The receiver gave the transfer up; the send ends when our part is written and the final
        // rndv_atp was sent.
        release_id(*send);
        if (parts.status == UCS_OK) parts.status = status;
    }
    if (more) receiver.send_deferred();
}

// Handles a request for more RTS messages; a repeated one changes nothing.
void on_more(worker& owner, const wire::more_header& header) {
    ep* const over = owner.find_ep(header.ep);
    if (over != nullptr) over->remote().on_more_rts_allowed(header.stopped);
}

}  // namespace

void rndv_listen_replies(worker& owner, uct::iface& iface) {
    handler_of<wire::rndv_rtr>::install<on_rtr>(iface, &owner);
    handler_of<wire::rndv_ats>::install_plain<wire::ats_header, on_ats>(iface, owner);
    handler_of<wire::rndv_more>::install_plain<wire::more_header, on_more>(iface, owner);
}

}  // namespace ucp
