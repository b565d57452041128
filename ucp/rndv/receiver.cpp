#include "ucp/rndv/receiver.hpp"

#include <array>
#include <cstring>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/receive.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/proto/tables.hpp"
#include "ucp/rndv/choice.hpp"
#include "ucp/rndv/kept.hpp"
#include "ucp/rndv/read_data.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

namespace {

// Steps that follow further below.
void request_stream(request& receive);
void request_half(request& receive);
bool request_write(request& receive);
void stream_instead(request& receive);
void read_rest(request& receive);
void data_read(uct::completion& parts) noexcept;
void data_written(uct::completion& parts) noexcept;
void confirm_read(request& receive, ucs_status_t status);

// Returns whether we read the data from a device of the sender. The device writes to host memory as
// well as to memory of devices.
bool can_take_from_device(const rndv_recv& state, const peer& sender,
                          const rts_info& message) noexcept {
    return (state.buffer.in_memory() || state.buffer.on_device()) &&
           is_readable_on_device(sender, message);
}

// Starts the measurement: from here on the time depends on the method alone.
void begin_timing(request& receive) noexcept {
    auto& state = receive.as<rndv_recv>();
    state.started = ucs::time::now();
    slot_of<rndv_rates>(*receive.owner).of(state.source == data_source::keyed).begin(state.started);
}

}  // namespace

// --- RTS: chooses the method ---

void rndv_receive(request& receive, ep& from, rts_info message) {
    auto& state = receive.as<rndv_recv>();
    state.begin(message);
    if (message.total > state.buffer.capacity()) {
        // Nothing is moved: the message is consumed, and the sender completes without an error.
        send_ats(from, message.request, UCS_OK);
        finish_receive(receive, UCS_ERR_MESSAGE_TRUNCATED);
        return;
    }
    if (message.total == 0) {
        // The RTS was the whole message.
        send_ats(from, message.request, UCS_OK);
        finish_receive(receive, UCS_OK);
        return;
    }
    // The lanes of an endpoint that waits for its peer's reply may not be connected yet, and they
    // may be replaced while a read waits in them.
    const bool is_established_here = wireup::is_established(wireup::state_of(from));
    const bool is_reached = is_established_here && from.remote().lanes().rma() != nullptr;
    const bool keyed = is_reached && from.remote().lanes().rma_attr().keyed;
    const bool readable =
        is_reached && state.buffer.in_memory() && is_readable(from.remote(), message);
    const bool from_device =
        is_established_here && can_take_from_device(state, from.remote(), message);
    state.source = from_device ? data_source::device
                   : keyed     ? data_source::keyed
                               : data_source::host;
    state.method = from_device         ? rndv_method::read
                   : readable || keyed ? choose_method(receive, from, readable)
                                       : rndv_method::stream;
    switch (state.method) {
        case rndv_method::read:
            receive.owner->log().count(activity::reads);
            if (!prepare_read(receive, from.remote(), std::move(message.memory))) break;
            if (!from_device) begin_timing(receive);
            return read_rest(receive);
        case rndv_method::split:
            receive.owner->log().count(activity::splits);
            begin_timing(receive);
            return request_half(receive);
        case rndv_method::write:
            receive.owner->log().count(activity::writes);
            if (!request_write(receive)) break;
            return;
        case rndv_method::stream:
            receive.owner->log().count(activity::streams);
            begin_timing(receive);
            return request_stream(receive);
    }
    stream_instead(receive);
}

namespace {

// --- RTR: requests data from the sender ---

void log_no_memory(const request& receive) noexcept {
    ucs::log::error(proto_log, "out of memory: a message of {} bytes cannot be received",
                    receive.state.recv.info.length);
}

// Sends a data request, with the key to the receive's buffer if there is one. Returns false if
// there is no memory; nothing was requested then.
bool send_rtr(request& receive, std::uint64_t address, std::uint64_t from) {
    auto& state = receive.as<rndv_recv>();
    state.local_id = slot_of<request_ids>(*receive.owner).receives.add(&receive);
    if (state.local_id == 0) return false;
    peer& to = receive.via->remote();
    const wire::rtr_header header{state.remote_id,          state.local_id,      address, from,
                                  receive.via->remote_id(), receive.owner->uid()};
    std::array<std::byte, longest_exposed_keys> keys;
    const std::size_t length =
        address != 0 && state.has_exposed ? pack_keys(*state.exposed, keys.data()) : 0;
    if (to.control().send(wire::rndv_rtr, std::as_bytes(std::span(&header, 1)),
                          std::span(keys).first(length), {rndv_request_ended, state.local_id})) {
        return true;
    }
    release_receive_id(receive);
    return false;
}

void request_stream(request& receive) {
    auto& state = receive.as<rndv_recv>();
    state.offset = 0;
    staged_sink::attach(receive, state.buffer, state.info.length);
    if (send_rtr(receive, 0, 0)) return;
    log_no_memory(receive);
    send_ats(*receive.via, state.remote_id, UCS_ERR_NO_MEMORY);
    finish_receive(receive, UCS_ERR_NO_MEMORY);
}

// The chosen method does not work: streams the data instead.
void stream_instead(request& receive) {
    release_receive_id(receive);
    receive.as<rndv_recv>().started = 0;
    receive.as<rndv_recv>().source = data_source::host;
    request_stream(receive);
}

// Split method: the sender writes the second half while we read the first. The halves share no
// page, so that the two do not wait for each other in the kernel.
void request_half(request& receive) {
    constexpr std::size_t page = 4096;
    auto& state = receive.as<rndv_recv>();
    const std::size_t middle = state.info.length / 2 / page * page;
    state.awaits = rndv_reply::written;
    if (!send_rtr(receive, reinterpret_cast<std::uint64_t>(state.buffer.contiguous()), middle)) {
        state.awaits = rndv_reply::none;
        state.method = rndv_method::read;
        read_rest(receive);
        return;
    }
    state.parts = {.done = data_read, .count = 2};  // one count is the sender's part
    read_data(receive, middle);
}

// Write method: requests that the sender's device writes everything. Returns false if there is no
// key for this memory.
bool request_write(request& receive) {
    auto& state = receive.as<rndv_recv>();
    std::byte* const buffer = static_cast<std::byte*>(state.buffer.contiguous());
    // A registration that is needed for every transfer belongs to the measured time, as it does for
    // reading.
    const std::span bytes(buffer, state.info.length);
    const bool lasts = preparation_for(receive.via->remote(), bytes, uct::memory_access::change,
                                       uct::memory_user::peer)
                           .lasts;
    if (!lasts) begin_timing(receive);
    auto exposed = expose(receive.via->remote(), bytes, uct::memory_access::change);
    if (exposed == nullptr) return false;
    state.set_exposed(std::move(exposed));
    if (lasts) begin_timing(receive);
    state.awaits = rndv_reply::written;
    if (!send_rtr(receive, reinterpret_cast<std::uint64_t>(buffer), 0)) {
        state.awaits = rndv_reply::none;
        end_access(state);
        return false;
    }
    state.parts = {.done = data_written, .count = 1};
    return true;
}

// --- data, streamed by the sender ---

// Records the observed time. Returns the seconds that such a message costs, 0 if that is not known
// yet.
double note_rate(const request& receive) {
    const auto& state = receive.as<rndv_recv>();
    if (state.started == 0) return 0;
    return slot_of<rndv_rates>(*receive.owner)
        .of(state.source == data_source::keyed)
        .observe(state.method, state.info.length, state.started, ucs::time::now());
}

// Returns the receive that this piece of data belongs to, or nullptr.
request* find_receive(worker& owner, const wire::data_header& header, std::size_t length) {
    request** found = slot_of<request_ids>(owner).receives.find(header.reply);
    if (found == nullptr) return nullptr;
    const auto& state = (*found)->as<rndv_recv>();
    if (state.awaits != rndv_reply::none) return nullptr;
    if (header.offset != state.offset || length > state.info.length - state.offset) return nullptr;
    return *found;
}

void data_arrived(request& receive, std::size_t length) {
    auto& state = receive.as<rndv_recv>();
    state.offset += length;
    if (state.offset != state.info.length) return;
    const peer& from = receive.via->remote();
    const bool in_host = from.lanes().is_open() && from.lanes().am_attr().reach == uct::scope::host;
    if (state.outcome == UCS_OK && state.started != 0) {
        const double took = note_rate(receive);
        if (in_host)
            slot_of<protocol_tables>(*receive.owner).streaming.observe(state.info.length, took);
    }
    finish_receive(receive, state.outcome);
}

void on_data(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::data_header header;
    if (!read_header(owner, wire::rndv_data, message, header)) return;
    const uct::peer_bytes data = message.after(sizeof header);
    request* receive = find_receive(owner, header, data.size());
    if (receive == nullptr) {
        ucs::log::debug(proto_log, "data for a receive that is gone was dropped");
        return;
    }
    auto& state = receive->as<rndv_recv>();
    if (state.outcome == UCS_OK) {
        state.outcome = state.buffer.unpack(data.payload(), header.offset, data.size());
    }
    data_arrived(*receive, data.size());
}

void* locate(void* arg, const void* bytes, std::size_t length) noexcept {
    wire::data_header header;
    std::memcpy(&header, bytes, sizeof header);
    request* receive = find_receive(*static_cast<worker*>(arg), header, length);
    if (receive == nullptr) return nullptr;
    auto& state = receive->as<rndv_recv>();
    void* base = state.buffer.contiguous();
    if (base == nullptr || state.outcome != UCS_OK) return nullptr;
    return static_cast<std::byte*>(base) + header.offset;
}

void landed(void* arg, const void* bytes, std::size_t length) {
    wire::data_header header;
    std::memcpy(&header, bytes, sizeof header);
    request* receive = find_receive(*static_cast<worker*>(arg), header, length);
    if (receive != nullptr) data_arrived(*receive, length);
}

// --- data, read from the sender's memory or written by the sender ---

// Reads the data that has not arrived yet.
void read_rest(request& receive) {
    auto& state = receive.as<rndv_recv>();
    state.parts = {.done = data_read, .count = 1};
    read_data(receive, state.info.length);
}

// Ends the access to the memory of either side. Returns false if the endpoint is gone meanwhile:
// the receive has ended then.
bool end_transfer(request& receive) {
    end_access(receive.as<rndv_recv>());
    if (receive.via != nullptr) return true;
    finish_receive(receive, receive.state.recv.outcome);
    return false;
}

// Our part is read, and the sender has written its half if it had to write one.
void data_read(uct::completion& parts) noexcept {
    request& receive = receive_of(parts);
    const ucs_status_t status = parts.status;
    if (!end_transfer(receive)) return;
    if (status != UCS_OK && receive.as<rndv_recv>().source == data_source::device) {
        // The log of the transport has the reason.
        stream_instead(receive);
    } else if (status == UCS_ERR_UNSUPPORTED) {
        slot_of<wireup::lane_setup>(receive.via->remote()).drop_rma(rma_state::refused);
        stream_instead(receive);
    } else if (mem::is_out_of_devices_reach(status)) {
        stream_instead(receive);
    } else if (status == UCS_OK && std::exchange(receive.as<rndv_recv>().unwritten, false)) {
        read_rest(receive);
    } else {
        if (status == UCS_OK) static_cast<void>(note_rate(receive));
        confirm_read(receive, status);
    }
}

// The sender has written everything and knows that, or could not write it. There is no key to read
// the data with after that.
void data_written(uct::completion& parts) noexcept {
    request& receive = receive_of(parts);
    const ucs_status_t status = parts.status;
    if (!end_transfer(receive)) return;
    if (status == UCS_OK && receive.as<rndv_recv>().unwritten) {
        stream_instead(receive);
        return;
    }
    if (status == UCS_OK) static_cast<void>(note_rate(receive));
    finish_receive(receive, status);
}

// --- ATS: the data is read; the sender is done then ---

void end_read(request& receive, ucs_status_t status) {
    if (status != UCS_OK && status != UCS_ERR_CONNECTION_RESET) {
        ucs::log::error(proto_log,
                        "{} bytes of a message could not be read from the memory of {}: {}",
                        receive.state.recv.info.length, receive.via->remote().lanes().peer_name(),
                        ucs_status_string(status));
    }
    finish_receive(receive, status);
}

// Asks the sender whether the send still ran, if it may have taken its memory back: only then is
// the data that was read the message, and only then does a read error count.
void confirm_read(request& receive, ucs_status_t status) {
    auto& state = receive.as<rndv_recv>();
    if (state.confirm) {
        state.local_id = slot_of<request_ids>(*receive.owner).receives.add(&receive);
        if (state.local_id != 0) {
            state.outcome = status;
            state.awaits = rndv_reply::confirmed;
            send_ats(*receive.via, state.remote_id, status, state.local_id);
            return;
        }
        log_no_memory(receive);
        status = UCS_ERR_NO_MEMORY;
    }
    send_ats(*receive.via, state.remote_id, status);
    end_read(receive, status);
}

}  // namespace

void send_ats(const ep& from, std::uint64_t send, ucs_status_t status, std::uint64_t reply) {
    const wire::ats_header header{send, status, reply, from.remote_id()};
    from.remote().control().send(wire::rndv_ats, std::as_bytes(std::span(&header, 1)));
}

namespace {

// --- ATP: the sender has written its part, or replies to the ATS ---

void end_sender_part(request& receive, ucs_status_t status) {
    receive.as<rndv_recv>().awaits = rndv_reply::none;
    release_receive_id(receive);
    receive.as<rndv_recv>().parts.finish(status);
}

// The sender has written its part, or could not write it.
void on_written(request& receive, ucs_status_t status) {
    auto& state = receive.as<rndv_recv>();
    if (state.holds != nullptr) slot_of<kept_operations>(*state.holds).let_go(receive);
    state.unwritten = status != UCS_OK && status != UCS_ERR_CANCELED;
    end_sender_part(receive, status == UCS_ERR_CANCELED ? UCS_ERR_CONNECTION_RESET : UCS_OK);
}

void on_confirmed(request& receive, ucs_status_t status) {
    if (status == UCS_OK) {
        end_read(receive, receive.state.recv.outcome);
    } else {
        finish_receive(receive, UCS_ERR_CONNECTION_RESET);
    }
}

void on_atp(worker& owner, const wire::atp_header& header) {
    request** found = slot_of<request_ids>(owner).receives.find(header.reply);
    const rndv_reply awaited =
        found == nullptr ? rndv_reply::none : (*found)->as<rndv_recv>().awaits;
    const ucs_status_t status = wire::known_status(header.status);
    switch (awaited) {
        case rndv_reply::none:
            // The receive is streamed, and the sender cannot read the rest of its data.
            if (found != nullptr && status != UCS_OK) return finish_receive(**found, status);
            ucs::log::debug(proto_log, "an answer for a receive that is gone was dropped");
            break;
        case rndv_reply::written:
            on_written(**found, status);
            break;
        case rndv_reply::confirmed:
            on_confirmed(**found, status);
            break;
    }
}

// --- abort ---

// The sender is gone: its part of the work will not be done. Returns true while a lane of ours
// still writes into the buffer.
bool forget_sender(request& receive) noexcept {
    auto& state = receive.as<rndv_recv>();
    if (state.awaits != rndv_reply::written) return state.parts.count != 0;
    state.awaits = rndv_reply::none;
    if (--state.parts.count != 0) return true;
    end_access(state);
    return false;
}

}  // namespace

void abort_receive(request& receive, ucs_status_t status) {
    if (!receive.state.recv.by_rendezvous) return finish_receive(receive, status);
    auto& state = receive.as<rndv_recv>();
    send_ats(*receive.via, state.remote_id, UCS_ERR_CONNECTION_RESET);
    unqueue_read(receive);
    const bool peer_gone = receive.via->remote().dead();
    const bool busy = peer_gone ? forget_sender(receive) : state.parts.count != 0;
    if (!busy) {
        finish_receive(receive, status);
        return;
    }
    // The buffer is still being written: the receive ends when that is over.
    state.outcome = status;
    const bool written = state.awaits == rndv_reply::written;
    if (!written) release_receive_id(receive);
    peer& from = receive.via->remote();
    receive.via->operations().remove_receive(receive);
    receive.via = nullptr;
    if (written) slot_of<kept_operations>(from).keep(receive);
}

void rndv_abandon(request& receive) {
    end_sender_part(receive, UCS_OK);  // the receive has its status already
}

void rndv_request_ended(worker& owner, std::uint64_t reply, bool is_stopped) {
    request** const found = is_stopped ? slot_of<request_ids>(owner).receives.find(reply) : nullptr;
    if (found == nullptr || (*found)->as<rndv_recv>().awaits != rndv_reply::written) return;
    request& receive = **found;
    if (receive.state.recv.holds != nullptr) {
        slot_of<kept_operations>(*receive.state.recv.holds).let_go(receive);
        rndv_abandon(receive);
    } else {
        static_cast<void>(forget_sender(receive));
    }
}

void rndv_listen(worker& owner, uct::iface& iface) {
    handler_of<wire::rndv_atp>::install_plain<wire::atp_header, on_atp>(iface, owner);
    handler_of<wire::rndv_data>::install<on_data, locate, landed>(iface, &owner,
                                                                  sizeof(wire::data_header));
}

}  // namespace ucp
