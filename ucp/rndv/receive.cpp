#include "ucp/rndv/receive.hpp"

#include <array>
#include <cstring>

#include "ucp/core/complete.hpp"
#include "ucp/core/log.hpp"
#include "ucp/rndv/start.hpp"

namespace ucp {

namespace {

constexpr std::size_t max_pieces = 16;

void end_receive(request& receive, ucs_status_t status) {
    receive.owner->matcher().finish_receive(receive, status);
}

void send_status(ep& to, std::uint64_t sender_request, ucs_status_t status) {
    const wire::ats_header header{sender_request, status};
    to.remote().send_control(wire::rndv_ats, std::as_bytes(std::span(&header, 1)));
}

// The sender is done as soon as it hears that its memory was read.
void read_done(request& receive, ucs_status_t status) {
    send_status(*receive.via, receive.state.recv.remote_id, status);
    end_receive(receive, status);
}

void ask_for_data(request& receive) {
    recv_state& state = receive.state.recv;
    state.offset = 0;
    state.local_id = receive.owner->recv_ids().add(&receive);
    const wire::rtr_header header{state.remote_id, state.local_id};
    receive.via->remote().send_control(wire::rndv_rtr, std::as_bytes(std::span(&header, 1)));
}

request& of_parts(uct::completion& parts) noexcept {
    return request::of(*boost::intrusive::get_parent_from_member(&parts, &recv_state::parts));
}

// The system refused to read this peer's memory: nothing is lost but a choice.
void fall_back(request& receive) {
    receive.via->remote().drop_rma("the system refused access to the peer's memory");
    ask_for_data(receive);
}

void read_completed(uct::completion& parts) {
    request& receive = of_parts(parts);
    const ucs_status_t status = parts.status;
    if (receive.via == nullptr) {  // the endpoint went away meanwhile
        end_receive(receive, receive.state.recv.outcome);
        return;
    }
    if (status == UCS_ERR_UNSUPPORTED) {
        fall_back(receive);
    } else {
        read_done(receive, status);
    }
}

// Reads everything, one list of pieces after the other.
void read_data(request& receive, uct::ep& lane) {
    recv_state& state = receive.state.recv;
    state.parts = {.done = read_completed, .count = 1};
    std::array<uct::iov, max_pieces> pieces;
    const std::size_t total = state.info.length;
    while (state.offset < total && state.parts.status == UCS_OK) {
        const dt::piece_list list = state.buffer.pieces(state.offset, total - state.offset, pieces);
        ++state.parts.count;
        const ucs_status_t status = lane.get_zcopy(
            std::span(pieces).first(list.count), state.remote_address + state.offset, &state.parts);
        state.offset += list.length;
        if (status != UCS_INPROGRESS) {
            --state.parts.count;
            if (status != UCS_OK) state.parts.status = status;
        }
    }
    state.parts.finish(UCS_OK);
}

void on_rtr(worker& owner, const wire::rtr_header& header) {
    request* send = find_send(owner, header.request);
    if (send == nullptr || send->state.send.proto == nullptr ||
        !send->state.send.proto->rendezvous) {
        ucs::log::debug(proto_log, "data was requested of a send that is gone");
        return;
    }
    rndv_stream_data(*send, header.reply);
}

void on_ats(worker& owner, const wire::ats_header& header) {
    request* send = find_send(owner, header.request);
    if (send == nullptr || !send->state.send.proto->rendezvous) return;
    const bool known = header.status <= 0 && header.status > UCS_ERR_LAST;
    finish_send(*send, known ? static_cast<ucs_status_t>(header.status) : UCS_ERR_IO_ERROR);
}

// The receive that this piece of data belongs to, or nullptr.
request* find_receive(worker& owner, const wire::data_header& header, std::size_t length) {
    request** found = owner.recv_ids().find(header.reply);
    if (found == nullptr) return nullptr;
    const recv_state& state = (*found)->state.recv;
    if (header.offset != state.offset || length > state.info.length - state.offset) return nullptr;
    return *found;
}

void advance(request& receive, std::size_t length) {
    recv_state& state = receive.state.recv;
    state.offset += length;
    if (state.offset == state.info.length) end_receive(receive, state.outcome);
}

template<class Header, void (*Handler)(worker&, const Header&)>
void deliver_header(void* arg, void* data, std::size_t length) {
    Header header;
    if (length < sizeof header) {
        ucs::log::warn(proto_log, "a malformed rendezvous answer of {} bytes was dropped", length);
        return;
    }
    std::memcpy(&header, data, sizeof header);
    Handler(*static_cast<worker*>(arg), header);
}

void deliver_data(void* arg, void* data, std::size_t length) {
    wire::data_header header;
    if (length < sizeof header) {
        ucs::log::warn(proto_log, "a malformed data message of {} bytes was dropped", length);
        return;
    }
    std::memcpy(&header, data, sizeof header);
    const std::size_t payload = length - sizeof header;
    request* receive = find_receive(*static_cast<worker*>(arg), header, payload);
    if (receive == nullptr) {
        ucs::log::debug(proto_log, "data for a receive that is gone was dropped");
        return;
    }
    recv_state& state = receive->state.recv;
    if (state.outcome == UCS_OK) {
        state.outcome = state.buffer.unpack(static_cast<const std::byte*>(data) + sizeof header,
                                            header.offset, payload);
    }
    advance(*receive, payload);
}

void* locate_data(void* arg, const void* at, std::size_t length) {
    wire::data_header header;
    std::memcpy(&header, at, sizeof header);
    request* receive = find_receive(*static_cast<worker*>(arg), header, length);
    if (receive == nullptr) return nullptr;
    recv_state& state = receive->state.recv;
    void* base = state.buffer.contiguous();
    if (base == nullptr || state.outcome != UCS_OK) return nullptr;
    return static_cast<std::byte*>(base) + header.offset;
}

void landed_data(void* arg, const void* at, std::size_t length) {
    wire::data_header header;
    std::memcpy(&header, at, sizeof header);
    request* receive = find_receive(*static_cast<worker*>(arg), header, length);
    if (receive != nullptr) advance(*receive, length);
}

}  // namespace

void rndv_receive(request& receive, ep& from, const announced& what) {
    recv_state& state = receive.state.recv;
    state.remote_id = what.request;
    state.remote_address = what.address;
    state.offset = 0;
    if (what.total > state.buffer.capacity()) {
        // Nothing is moved: the message is consumed, and its sender need not know.
        send_status(from, what.request, UCS_OK);
        end_receive(receive, UCS_ERR_MESSAGE_TRUNCATED);
        return;
    }
    uct::ep* lane = from.remote().rma();
    if (lane != nullptr && what.address != 0 && state.buffer.in_memory()) {
        read_data(receive, *lane);
    } else {
        ask_for_data(receive);
    }
}

void rndv_release(request& receive) noexcept {
    recv_state& state = receive.state.recv;
    if (state.local_id != 0) {
        receive.owner->recv_ids().remove(std::exchange(state.local_id, 0));
    }
}

void rndv_listen(worker& owner, uct::iface& on) {
    on.set_am_handler(wire::rndv_rtr,
                      {.deliver = deliver_header<wire::rtr_header, on_rtr>, .arg = &owner});
    on.set_am_handler(wire::rndv_ats,
                      {.deliver = deliver_header<wire::ats_header, on_ats>, .arg = &owner});
    on.set_am_handler(wire::rndv_data, {.deliver = deliver_data,
                                        .landing_header = sizeof(wire::data_header),
                                        .locate = locate_data,
                                        .landed = landed_data,
                                        .arg = &owner});
}

}  // namespace ucp
