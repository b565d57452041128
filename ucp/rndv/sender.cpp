#include "ucp/rndv/sender.hpp"

#include <cstring>
#include <new>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/am_fields.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/proto/protocol.hpp"
#include "ucp/rndv/choice.hpp"
#include "ucp/rndv/kept.hpp"
#include "ucp/rndv/rndv_send.hpp"
#include "ucp/rndv/wire.hpp"

namespace ucp {

namespace {

// --- RTS: describes the message and, if the receiver may read it, where it lies ---

struct rts_packing {
    request* send;
    bool readable;
};

std::size_t pack_rts(void* arg, void* into, std::size_t) {
    const auto& job = *static_cast<rts_packing*>(arg);
    request& send = *job.send;
    auto& state = send.as<rndv_send>();
    const void* const start =
        state.buffer.on_device() ? state.buffer.device_contiguous() : state.buffer.contiguous();
    const auto address = job.readable ? reinterpret_cast<std::uint64_t>(start) : 0;
    // In mode PEER a send may be aborted at any time, and the program gets its memory back at once.
    const bool lasting = !send.via->program().handles_errors();
    const wire::rts_header header{
        state.first_word,
        state.buffer.length(),
        send.via->remote_id(),
        state.local_id,
        address,
        (lasting ? 0 : wire::rts_confirm) | (state.buffer.on_device() ? wire::rts_on_device : 0),
        state.rts_counted ? slot_of<deferred_sends>(send.via->remote()).stop_mark() : 0};
    std::memcpy(into, &header, sizeof header);
    if (state.header_length > 0) {  // header of an active message
        std::memcpy(static_cast<std::byte*>(into) + sizeof header, state.header,
                    state.header_length);
        state.header_sent = true;
    }
    const std::size_t length = sizeof header + state.header_length;
    if (address == 0 || state.exposed == nullptr) return length;
    const std::size_t place = sizeof header + wire::padded_length(state.header_length);
    std::memset(static_cast<std::byte*>(into) + length, 0, place - length);
    return place + pack_keys(*state.exposed, static_cast<std::byte*>(into) + place);
}

// The same for a buffer on a device.
bool is_readable_on_device(request& send) {
    auto& state = send.as<rndv_send>();
    const peer& to = send.via->remote();
    auto* const bytes = static_cast<std::byte*>(state.buffer.device_contiguous());
    if (bytes == nullptr || !to.lanes().device.is_open()) return false;
    if (state.exposed == nullptr)
        state.exposed = expose_on_device(to, {bytes, state.buffer.length()});
    return state.exposed != nullptr;
}

// Returns whether the receiver may read the buffer. If the peer needs a key, the buffer is exposed,
// provided that this is worthwhile. It stays exposed while the RTS waits for room.
bool is_readable(request& send) {
    auto& state = send.as<rndv_send>();
    const peer& to = send.via->remote();
    if (state.buffer.on_device()) return is_readable_on_device(send);
    if (to.lanes().rma() == nullptr || state.buffer.contiguous() == nullptr) return false;
    if (to.lanes().rail_count() == 0 || state.exposed != nullptr) return true;
    state.copies = state.copies || !pays_in_place(send, uct::memory_user::peer);
    if (state.copies) return false;
    auto* const bytes = static_cast<const std::byte*>(state.buffer.contiguous());
    state.exposed = expose(to, {const_cast<std::byte*>(bytes), state.buffer.length()},
                           uct::memory_access::read);
    return state.exposed != nullptr;
}

}  // namespace

// The receiver of an aborted send may be reading its memory now: the peer object keeps it exposed.
void keep_exposed(request& send) {
    auto& state = send.as<rndv_send>();
    if (state.exposed == nullptr || state.local_id == 0 || state.parts.count != 0) return;
    state.exposed->send = state.local_id;
    slot_of<kept_operations>(send.via->remote()).keep_exposed(std::move(state.exposed));
}

void end_rndv(request& send) {
    send.as<rndv_send>().exposed.reset();
}

ucs_status_t send_rts(request& send, bool readable) {
    auto& state = send.as<rndv_send>();
    if (!state.started) state.begin();
    rts_packing job{&send, readable && is_readable(send)};
    if (!assign_id(send)) {
        finish_send(send, UCS_ERR_NO_MEMORY);
        return UCS_OK;
    }
    const ssize_t sent = send.via->lane().am_bcopy(traits(state.kind).rts, pack_rts, &job);
    if (sent >= 0) return UCS_OK;
    release_id(send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    finish_send(send, static_cast<ucs_status_t>(sent));
    return UCS_OK;
}

namespace {

// --- RTR: the receiver requests the data ---

// Streams the data into the receive `reply` of the peer.
void begin_stream(request& send, std::uint64_t reply);

// Writes the data from the requested offset on to the receiver's memory. The receiver is notified
// when nothing will be written any more, even if the send is aborted meanwhile. It is not notified
// if the request does not fit the send (the request is dropped) or if the connection failed before.
void begin_write(request& send, const wire::rtr_header& where, std::span<const std::byte> key);

// Notifies the receive `reply` of the peer how writing its part ended, or whether the send still
// ran when its memory had been read.
void notify_receive(peer& to, std::uint64_t reply, ucs_status_t status) {
    const wire::atp_header header{reply, status};
    to.control().send(wire::rndv_atp, std::as_bytes(std::span(&header, 1)));
}

// Logs an invalid message; a peer may send anything.
void reject(worker& owner, const char* message, std::uint64_t send, const char* why) {
    owner.log().rejected().warn(proto_log, "{} names send {:x}, which {}: dropped", message, send,
                                why);
}

// Returns whether the send waits for room on its lane. Then it must neither end nor begin a second
// time.
bool is_queued(const request& send) noexcept {
    return send.pending.pending_hook.is_linked();
}

// Returns the peer that requested data of a send which is gone, perhaps with its endpoint. Returns
// nullptr if the peer is gone as well, and with it the lanes, which the other side notices; or if
// too many replies wait for it. Any process can name the uid of another worker, and that worker
// must not fail for requests that it has not sent: only few replies wait for one worker, unless the
// request came over its own connection.
peer* find_asking(worker& owner, const wire::rtr_header& asked, const uct::peer_bytes& message) {
    const ep* const over = owner.endpoints().find(asked.ep);
    if (over != nullptr) return &over->remote();
    peer* const named =
        owner.peers().find_if(asked.uid, [](const peer& each) { return each.lanes().is_open(); });
    if (named == nullptr || named->control().has_room_for_strangers()) return named;
    const std::uint64_t connection = owner.interfaces().connection_of(message);
    if (connection != 0 && connection == named->connection) return named;
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
        slot_of<kept_operations>(*receiver).release_exposed(header.request);
        // The receive must not end before it knows that its buffer is not written any more.
        if (header.address != 0) notify_receive(*receiver, header.reply, UCS_ERR_CANCELED);
        return;
    }
    if (send->via != owner.endpoints().find(header.ep) || !send->state.send.proto->rendezvous) {
        reject(owner, "a request for data", header.request, "was not announced on that endpoint");
    } else if (send->state.send.parts.count != 0 || is_queued(*send)) {
        reject(owner, "a request for data", header.request,
               "has sent no RTS yet, or is being written already");
    } else {
        peer& receiver = send->via->remote();
        const bool more = slot_of<deferred_sends>(receiver).on_rts_answered(*send);
        if (header.address != 0) {
            begin_write(*send, header, key);
        } else {
            begin_stream(*send, header.reply);
        }
        if (more) slot_of<deferred_sends>(receiver).resume();  // after the data
    }
}

// --- data, streamed ---

void write_data_header(const request& send, void* into) {
    const wire::data_header header{send.as<rndv_send>().reply, send.state.send.offset};
    std::memcpy(into, &header, sizeof header);
}

constexpr fragment_writer data_fragments{wire::rndv_data, sizeof(wire::data_header),
                                         write_data_header};

ucs_status_t stream_data(request& send) {
    return send_fragments(send, data_fragments);
}

void report_failure(request& send, ucs_status_t status) {
    notify_receive(send.via->remote(), send.as<rndv_send>().reply, status);
}

// The second phase; it is never selected, so it has no prediction.
constinit const protocol stream_phase{"rndv/stream",     "",       nullptr,
                                      stream_data,       true,     nullptr,
                                      lane_use::message, end_rndv, report_failure};

void begin_stream(request& send, std::uint64_t reply) {
    auto& state = send.as<rndv_send>();
    release_id(send);
    send.as<rndv_send>().reply = reply;
    state.buffer.detach();  // it may have read ahead for a write that was given up
    state.offset = 0;
    state.proto = &stream_phase;
    begin_fragments(send, state.buffer.length(), [](request& done) { finish_send(done, UCS_OK); });
    uct::ep& lane = send.via->lane();
    if (stream_data(send) == UCS_ERR_NO_RESOURCE) lane.pending_add(send.pending);
}

// --- data, written; the ATP ends it if the sender writes everything ---

std::size_t pack_atp(void* arg, void* into, std::size_t) {
    const wire::atp_header header{static_cast<request*>(arg)->as<rndv_send>().reply, UCS_OK};
    std::memcpy(into, &header, sizeof header);
    return sizeof header;
}

// Sends the final rndv_atp when everything is written. The send ends afterwards and not before,
// because its endpoint may be closed then.
ucs_status_t send_atp(request& send) {
    const ssize_t sent = send.via->lane().am_bcopy(wire::rndv_atp, pack_atp, &send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    // The status is not UCS_OK if the receiver gave the transfer up meanwhile.
    const ucs_status_t written = send.state.send.parts.status;
    finish_send(send, sent < 0 ? static_cast<ucs_status_t>(sent) : written);
    return UCS_OK;
}

void cancel_atp(request& send) {
    keep_exposed(send);
    notify_receive(send.via->remote(), send.as<rndv_send>().reply, UCS_ERR_CANCELED);
}

constinit const protocol atp_phase{"rndv/write", "",         nullptr,           send_atp,
                                   true,         cancel_atp, lane_use::message, end_rndv};

// All pieces are written or failed: notifies the receiver. If the receiver reads a part itself, it
// notifies the sender when that is done, and also when it had to read everything.
void data_written(uct::completion& parts) noexcept {
    request& send =
        request::of(*boost::intrusive::get_parent_from_member(&parts, &send_state::parts));
    const auto& state = send.as<rndv_send>();
    const bool notified = state.written == written_part::all_notified;
    const ucs_status_t status = parts.status;
    if (state.holds != nullptr) {
        if (!notified) notify_receive(*state.holds, state.reply, UCS_ERR_CANCELED);
        finish_send(send, status);
        return;
    }
    if (state.written == written_part::all && status == UCS_OK) {
        start_with(send, atp_phase);
        return;
    }
    if (!notified) {
        notify_receive(send.via->remote(), state.reply,
                       status == UCS_OK ? UCS_OK : UCS_ERR_UNSUPPORTED);
    }
    const bool given_up = state.local_id == 0;  // by the receiver
    if (notified || given_up) finish_send(send, status);
}

ucs_status_t write_data(request& send) {
    auto& state = send.as<rndv_send>();
    const ucs_status_t status = write_rest(send);
    if (status == UCS_ERR_NO_RESOURCE) return status;
    if (status == UCS_INPROGRESS) return UCS_OK;
    if (status != UCS_OK) stop_staging(send);
    state.guarded = false;
    state.parts.finish(status);
    return UCS_OK;
}

// The second phase; never selected, so it has no prediction.
constinit const protocol write_phase{"rndv/write", "",           nullptr,          write_data,
                                     true,         keep_exposed, lane_use::memory, end_rndv};

// Takes the keys to the memory that the receiver exposes. Returns false if there are none, or no
// memory for them.
bool take_target(request& send, std::span<const std::byte> keys) {
    auto& state = send.as<rndv_send>();
    auto path = take_keys(*send.via, keys, uct::memory_access::change);
    if (path == nullptr || path->key_for(send.via->remote().lanes().rma_device()) == nullptr)
        return false;
    if (state.exposed == nullptr) {
        state.exposed.reset(new (std::nothrow) exposed_buffer);
        if (state.exposed == nullptr) return false;
    }
    state.exposed->path = std::move(path);
    return true;
}

void begin_write(request& send, const wire::rtr_header& where, std::span<const std::byte> key) {
    auto& state = send.as<rndv_send>();
    if (where.from > state.buffer.length()) {
        send.owner->log().rejected().warn(
            proto_log, "a request to write a part of a message does not fit: dropped");
        return;
    }
    const peer& to = send.via->remote();
    const bool known = state.exposed != nullptr;  // to the devices, since the RTS was sent
    state.copies = state.copies || (!known && !pays_in_place(send, uct::memory_user::own));
    if (to.lanes().rail_count() > 0 && !take_target(send, key)) {
        notify_receive(send.via->remote(), where.reply, UCS_ERR_UNSUPPORTED);
        return;
    }
    state.buffer.detach();
    state.reply = where.reply;
    state.target = where.address;
    state.written = where.from == 0 ? written_part::all : written_part::rest;
    state.offset = where.from;
    state.end = state.buffer.length();
    state.parts = {.done = data_written, .count = 1};
    state.guarded = true;
    start_with(send, write_phase);
}

// --- ATS: the receiver has read the data, or gave the transfer up ---

void on_ats(worker& owner, const wire::ats_header& header) {
    request* send = find_send(owner, header.request);
    if (send == nullptr) {  // both sides may end the send at the same time
        // If the endpoint of the send is gone as well, the receiver learns the end of the endpoint.
        const ep* const over = owner.endpoints().find(header.ep);
        if (over == nullptr) return;
        slot_of<kept_operations>(over->remote()).release_exposed(header.request);
        if (header.reply != 0) notify_receive(over->remote(), header.reply, UCS_ERR_CANCELED);
        return;
    }
    const ucs_status_t status = wire::known_status(header.status);
    uct::completion& parts = send->state.send.parts;
    peer& receiver = send->via->remote();
    const bool more = slot_of<deferred_sends>(receiver).on_rts_answered(*send);
    const bool is_writing = parts.count != 0 || send->state.send.proto == &atp_phase;
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
    if (more) slot_of<deferred_sends>(receiver).resume();
}

}  // namespace

void rndv_listen_replies(worker& owner, uct::iface& iface) {
    handler_of<wire::rndv_rtr>::install<on_rtr>(iface, &owner);
    handler_of<wire::rndv_ats>::install_plain<wire::ats_header, on_ats>(iface, owner);
}

}  // namespace ucp
