#include "ucp/rndv/answers.hpp"

#include "ucp/core/complete.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

namespace {

// A peer may say anything.
void reject(worker& owner, const char* what, std::uint64_t send, const char* why) {
    owner.rejected().warn(proto_log, "{} names send {:x}, which {}: dropped", what, send, why);
}

// It waits for room on its lane: neither its end nor a second beginning may come between.
bool is_queued(const request& send) noexcept {
    return send.pending.pending_hook.is_linked();
}

// A receive that waits for an answer of a send that is gone has to hear so. It names the endpoint
// of the send, which may be gone as well: then it hears that.
void answer_for_gone(worker& owner, std::uint64_t ep_id, std::uint64_t reply) {
    const ep* asked = owner.find_ep(ep_id);
    if (asked != nullptr) answer_receive(asked->remote(), reply, UCS_ERR_CANCELED);
}

// The receiver of a send that was broken off has done with its memory.
void end_lent(worker& owner, std::uint64_t ep_id, std::uint64_t send) {
    const ep* asked = owner.find_ep(ep_id);
    if (asked != nullptr) asked->remote().end_lent(send);
}

// The peer that asked for data of a send which is gone, perhaps with its endpoint. nullptr: it is
// gone as well, and with it the lanes, which the other side hears; or too many answers wait for it.
// Anybody can name the uid of another worker, which must not fail for what it has not asked: few
// answers wait for one, unless the question came by its own connection.
peer* find_asking(worker& owner, const wire::rtr_header& asked, const uct::peer_bytes& message) {
    const ep* const over = owner.find_ep(asked.ep);
    if (over != nullptr) return &over->remote();
    peer* const named =
        owner.find_peer_if(asked.uid, [](const peer& each) { return each.connected(); });
    if (named == nullptr || named->has_room_for_strangers()) return named;
    const std::uint64_t connection = owner.connection_of(message);
    if (connection != 0 && connection == named->connection()) return named;
    reject(owner, "a request for data", asked.request,
           "is gone, and for whose receiver enough answers wait");
    return nullptr;
}

void on_rtr(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::rtr_header header;
    if (!read_header(owner, wire::rndv_rtr, message, header)) return;
    // take_keys() copies it.
    const std::span key(message.payload() + sizeof header, message.size() - sizeof header);
    request* send = find_send(owner, header.request);
    if (send == nullptr) {
        ucs::log::debug(proto_log, "data was requested of a send that is gone");
        peer* const by = find_asking(owner, header, message);
        if (by == nullptr) return;
        by->end_lent(header.request);
        // The receive may not end before it knows that nobody writes into its buffer.
        if (header.address != 0) answer_receive(*by, header.reply, UCS_ERR_CANCELED);
        return;
    }
    if (send->via != owner.find_ep(header.ep) || !send->state.send.proto->rendezvous) {
        reject(owner, "a request for data", header.request, "was not announced on that endpoint");
    } else if (send->state.send.parts.count != 0 || is_queued(*send)) {
        reject(owner, "a request for data", header.request,
               "was not announced yet, or is being written already");
    } else {
        peer& by = send->via->remote();
        const bool more = by.announcement_answered(*send);
        if (header.address != 0) {
            rndv_write_part(*send, header, key);
        } else {
            rndv_stream_data(*send, header.reply);
        }
        if (more) by.send_deferred();  // behind the data
    }
}

void on_ats(worker& owner, const wire::ats_header& header) {
    request* send = find_send(owner, header.request);
    if (send == nullptr) {  // both sides may end it at the same time
        end_lent(owner, header.ep, header.request);
        if (header.reply != 0) answer_for_gone(owner, header.ep, header.reply);
        return;
    }
    const ucs_status_t status = wire::known_status(header.status);
    uct::completion& parts = send->state.send.parts;
    peer& by = send->via->remote();
    const bool more = by.announcement_answered(*send);
    const bool is_writing = parts.count != 0 || says_last_word(*send);
    if (!send->state.send.proto->rendezvous || (is_queued(*send) && !is_writing)) {
        reject(owner, "the end of a transfer", header.request, "was not announced");
    } else if (!is_writing) {
        if (header.reply != 0) answer_receive(send->via->remote(), header.reply, UCS_OK);
        finish_send(*send, status);
    } else if (status == UCS_OK) {
        reject(owner, "the end of a transfer", header.request, "is still being written");
    } else {
        // The receiver gave it up; the send ends when our part is written, and the last word said.
        release_id(*send);
        if (parts.status == UCS_OK) parts.status = status;
    }
    if (more) by.send_deferred();
}

// Once more than was asked for is no news.
void on_more(worker& owner, const wire::more_header& header) {
    ep* const over = owner.find_ep(header.ep);
    if (over != nullptr) over->remote().may_announce_more(header.stopped);
}

}  // namespace

void rndv_listen_answers(worker& owner, uct::iface& on) {
    handler_of<wire::rndv_rtr>::install<on_rtr>(on, &owner);
    handler_of<wire::rndv_ats>::install_plain<wire::ats_header, on_ats>(on, owner);
    handler_of<wire::rndv_more>::install_plain<wire::more_header, on_more>(on, owner);
}

}  // namespace ucp
