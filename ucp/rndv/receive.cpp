#include "ucp/rndv/receive.hpp"

#include <array>
#include <cstring>
#include <new>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/mem/access_path.hpp"
#include "ucp/proto/receive.hpp"
#include "ucp/rndv/choice.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

namespace {

constexpr std::size_t max_pieces = 16;

// Records the observed time. Returns the seconds that such a message costs, 0 if that is not known
// yet.
double note_rate(const request& receive) {
    const recv_state& state = receive.state.recv;
    if (state.started == 0) return 0;
    return receive.owner->rates(state.keyed)
        .observe(state.method, state.info.length, state.started, ucs::time::now());
}

void cannot_receive(const request& receive) noexcept {
    ucs::log::error(proto_log, "out of memory: a message of {} bytes cannot be received",
                    receive.state.recv.info.length);
}

void end_read(request& receive, ucs_status_t status) {
    if (status != UCS_OK && status != UCS_ERR_CONNECTION_RESET) {
        ucs::log::error(proto_log,
                        "{} bytes of a message could not be read from the memory of {}: {}",
                        receive.state.recv.info.length, receive.via->remote().peer_name(),
                        ucs_status_string(status));
    }
    finish_receive(receive, status);
}

// The data was read: notifies the sender, which is done then.
void read_done(request& receive, ucs_status_t status) {
    recv_state& state = receive.state.recv;
    if (status == UCS_OK) static_cast<void>(note_rate(receive));
    if (state.method == rndv_method::write) {  // the sender knows that it has written all
        end_read(receive, status);
        return;
    }
    if (state.confirm) {
        // The data that was read is the message only if the send still ran, and only then a read
        // error counts.
        state.local_id = receive.owner->recv_ids().add(&receive);
        if (state.local_id != 0) {
            state.outcome = status;
            state.awaits = rndv_reply::confirmed;
            rndv_notify_sender(*receive.via, state.remote_id, status, state.local_id);
            return;
        }
        cannot_receive(receive);
        status = UCS_ERR_NO_MEMORY;
    }
    rndv_notify_sender(*receive.via, state.remote_id, status);
    end_read(receive, status);
}

void on_confirmed(request& receive, ucs_status_t status) {
    if (status == UCS_OK) {
        end_read(receive, receive.state.recv.outcome);
    } else {
        finish_receive(receive, UCS_ERR_CONNECTION_RESET);
    }
}

// Sends a data request, with the key to the receive's buffer if there is one. Returns false if
// there is no memory; nothing was requested then.
bool send_data_request(request& receive, std::uint64_t address, std::uint64_t from) {
    recv_state& state = receive.state.recv;
    state.local_id = receive.owner->recv_ids().add(&receive);
    if (state.local_id == 0) return false;
    peer& to = receive.via->remote();
    const wire::rtr_header header{state.remote_id,          state.local_id,      address, from,
                                  receive.via->remote_id(), receive.owner->uid()};
    std::array<std::byte, longest_exposed_keys> keys;
    const std::size_t length =
        address != 0 && state.has_exposed ? pack_keys(*state.exposed, keys.data()) : 0;
    if (to.send_control(wire::rndv_rtr, std::as_bytes(std::span(&header, 1)),
                        std::span(keys).first(length))) {
        return true;
    }
    release_receive_id(receive);
    return false;
}

void ask_for_data(request& receive) {
    recv_state& state = receive.state.recv;
    state.offset = 0;
    if (send_data_request(receive, 0, 0)) return;
    cannot_receive(receive);
    rndv_notify_sender(*receive.via, state.remote_id, UCS_ERR_NO_MEMORY);
    finish_receive(receive, UCS_ERR_NO_MEMORY);
}

// Starts the measurement: from here on the time depends on the method alone.
void begin_timing(request& receive) noexcept {
    receive.state.recv.started = ucs::time::now();
    receive.owner->rates(receive.state.recv.keyed).begin(receive.state.recv.started);
}

// Ends the access by keys that the receive holds or has exposed.
void end_access(recv_state& state) noexcept {
    if (std::exchange(state.has_exposed, false)) delete state.exposed;
}

request& of_parts(uct::completion& parts) noexcept {
    return request::of(*boost::intrusive::get_parent_from_member(&parts, &recv_state::parts));
}

// The chosen method does not work: streams the data instead.
void stream_instead(request& receive) {
    release_receive_id(receive);
    receive.state.recv.started = 0;
    ask_for_data(receive);
}

void fall_back(request& receive) {
    receive.via->remote().drop_rma(rma_state::refused);
    stream_instead(receive);
}

void read_data(request& receive);

void read_completed(uct::completion& parts) noexcept {
    request& receive = of_parts(parts);
    const ucs_status_t status = parts.status;
    end_access(receive.state.recv);
    if (receive.via == nullptr) {  // the endpoint is gone meanwhile
        finish_receive(receive, receive.state.recv.outcome);
        return;
    }
    if (status == UCS_ERR_UNSUPPORTED) {
        fall_back(receive);
    } else if (mem::is_out_of_devices_reach(status)) {
        stream_instead(receive);
    } else if (status == UCS_OK && std::exchange(receive.state.recv.unwritten, false)) {
        // After a failed write by a device there is no key to read the data with.
        receive.state.recv.method == rndv_method::split ? read_data(receive)
                                                        : stream_instead(receive);
    } else {
        read_done(receive, status);
    }
}

uct::remote_place source_of(const recv_state& state, const peer& from) noexcept {
    if (!state.has_exposed) return {state.remote_address};
    return {state.exposed->address, state.exposed->path->key_for(from.rma_device())};
}

bool is_wanted(const uct::completion& parts) noexcept {
    return of_parts(const_cast<uct::completion&>(parts)).via != nullptr;
}

// Reads [state.offset, state.end) over all rails. Returns false if a single rail is to be used.
bool read_striped(request& receive) noexcept {
    recv_state& state = receive.state.recv;
    auto* const buffer = static_cast<std::byte*>(state.buffer.contiguous());
    if (!state.has_exposed || buffer == nullptr) return false;
    peer& from = receive.via->remote();
    const striped_work work{.put = false,
                            .local = buffer + state.offset,
                            .remote = state.exposed->address + state.offset,
                            .length = state.end - state.offset,
                            .memory = state.exposed->path.get(),
                            .most_rails = receive.owner->owner().options().rndv_rails};
    if (!striped_access::begin(from, work, state.parts, is_wanted)) return false;
    state.offset = state.end;
    return true;
}

// Reads [state.offset, state.end), one list of pieces after the other. UCS_ERR_NO_RESOURCE: the
// lane has no room now.
ucs_status_t read_pieces(request& receive) {
    recv_state& state = receive.state.recv;
    uct::ep* lane = receive.via->remote().rma();
    if (lane == nullptr) {  // the system refused another receive meanwhile
        state.parts.status = UCS_ERR_UNSUPPORTED;
        return UCS_OK;
    }
    if (read_striped(receive)) return UCS_OK;
    const uct::iface_attr& attr = receive.via->remote().rma_attr();
    const uct::remote_place from = source_of(state, receive.via->remote());
    if (attr.keyed && from.in == nullptr) {  // the lanes were made anew meanwhile
        state.parts.status = UCS_ERR_INVALID_ADDR;
        return UCS_OK;
    }
    std::array<uct::iov, max_pieces> pieces;
    const auto room = std::span(pieces).first(std::min(max_pieces, attr.max_iov));
    while (state.offset < state.end && state.parts.status == UCS_OK) {
        const std::size_t length = std::min(state.end - state.offset, attr.max_rma);
        const dt::piece_list list = state.buffer.pieces(state.offset, length, room);
        ++state.parts.count;
        const ucs_status_t status = lane->get_zcopy(
            room.first(list.count), {from.address + state.offset, from.in}, &state.parts);
        if (status != UCS_INPROGRESS) --state.parts.count;
        if (status == UCS_ERR_NO_RESOURCE) return status;
        state.offset += list.length;
        if (status != UCS_OK && status != UCS_INPROGRESS) state.parts.status = status;
    }
    return UCS_OK;
}

ucs_status_t progress_read(uct::pending_request& queued) noexcept {
    request& receive = request::of(queued);
    const ucs_status_t status = read_pieces(receive);
    if (status != UCS_ERR_NO_RESOURCE) receive.state.recv.parts.finish(UCS_OK);
    return status;
}

// Reads from state.offset to `end`; the last count of state.parts is taken back when that is done.
void read_until(request& receive, std::size_t end) {
    receive.state.recv.end = end;
    receive.pending.progress = progress_read;
    if (progress_read(receive.pending) == UCS_ERR_NO_RESOURCE) {
        receive.via->remote().rma()->pending_add(receive.pending);
    }
}

// Reads the data that has not arrived yet.
void read_data(request& receive) {
    recv_state& state = receive.state.recv;
    state.parts = {.done = read_completed, .count = 1};
    read_until(receive, state.info.length);
}

// Split method: the sender writes the second half while we read the first. The halves share no
// page, so that the two do not wait for each other in the kernel.
void split_data(request& receive) {
    constexpr std::size_t page = 4096;
    recv_state& state = receive.state.recv;
    const std::size_t middle = state.info.length / 2 / page * page;
    state.awaits = rndv_reply::written;
    if (!send_data_request(receive, reinterpret_cast<std::uint64_t>(state.buffer.contiguous()),
                           middle)) {
        state.awaits = rndv_reply::none;
        state.method = rndv_method::read;
        read_data(receive);
        return;
    }
    state.parts = {.done = read_completed, .count = 2};  // one count is the sender's part
    read_until(receive, middle);
}

// Write method: requests that the sender's device writes everything. Returns false if there is no
// key for this memory.
bool ask_to_write(request& receive) {
    recv_state& state = receive.state.recv;
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
    if (!send_data_request(receive, reinterpret_cast<std::uint64_t>(buffer), 0)) {
        state.awaits = rndv_reply::none;
        end_access(state);
        return false;
    }
    state.parts = {.done = read_completed, .count = 1};
    return true;
}

void end_peer_part(request& receive, ucs_status_t status) {
    receive.state.recv.awaits = rndv_reply::none;
    release_receive_id(receive);
    receive.state.recv.parts.finish(status);
}

// The sender has written its part, or could not write it.
void on_written(request& receive, ucs_status_t status) {
    recv_state& state = receive.state.recv;
    if (state.holds != nullptr) state.holds->let_go(receive);
    state.unwritten = status != UCS_OK && status != UCS_ERR_CANCELED;
    end_peer_part(receive, status == UCS_ERR_CANCELED ? UCS_ERR_CONNECTION_RESET : UCS_OK);
}

void on_atp(worker& owner, const wire::atp_header& header) {
    request** found = owner.recv_ids().find(header.reply);
    const rndv_reply awaited = found == nullptr ? rndv_reply::none : (*found)->state.recv.awaits;
    const ucs_status_t status = wire::known_status(header.status);
    switch (awaited) {
        case rndv_reply::none:
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

// Returns the receive that this piece of data belongs to, or nullptr.
request* find_receive(worker& owner, const wire::data_header& header, std::size_t length) {
    request** found = owner.recv_ids().find(header.reply);
    if (found == nullptr) return nullptr;
    const recv_state& state = (*found)->state.recv;
    if (state.awaits != rndv_reply::none) return nullptr;
    if (header.offset != state.offset || length > state.info.length - state.offset) return nullptr;
    return *found;
}

void advance(request& receive, std::size_t length) {
    recv_state& state = receive.state.recv;
    state.offset += length;
    if (state.offset != state.info.length) return;
    const peer& from = receive.via->remote();
    const bool in_host = from.connected() && from.am_attr().reach == uct::scope::host;
    if (state.outcome == UCS_OK && state.started != 0) {
        const double took = note_rate(receive);
        if (in_host) receive.owner->streaming().observe(state.info.length, took);
    }
    finish_receive(receive, state.outcome);
}

void deliver_data(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::data_header header;
    if (!read_header(owner, wire::rndv_data, message, header)) return;
    const uct::peer_bytes data = message.after(sizeof header);
    request* receive = find_receive(owner, header, data.size());
    if (receive == nullptr) {
        ucs::log::debug(proto_log, "data for a receive that is gone was dropped");
        return;
    }
    recv_state& state = receive->state.recv;
    if (state.outcome == UCS_OK) {
        state.outcome = state.buffer.unpack(data.payload(), header.offset, data.size());
    }
    advance(*receive, data.size());
}

void* locate_data(void* arg, const void* bytes, std::size_t length) noexcept {
    wire::data_header header;
    std::memcpy(&header, bytes, sizeof header);
    request* receive = find_receive(*static_cast<worker*>(arg), header, length);
    if (receive == nullptr) return nullptr;
    recv_state& state = receive->state.recv;
    void* base = state.buffer.contiguous();
    if (base == nullptr || state.outcome != UCS_OK) return nullptr;
    return static_cast<std::byte*>(base) + header.offset;
}

void landed_data(void* arg, const void* bytes, std::size_t length) {
    wire::data_header header;
    std::memcpy(&header, bytes, sizeof header);
    request* receive = find_receive(*static_cast<worker*>(arg), header, length);
    if (receive != nullptr) advance(*receive, length);
}

// Registers the buffer in advance, so that the transfer itself does not wait for it. Returns false
// if the device of the first rail cannot use the buffer; without other devices there are fewer
// rails.
bool prepare(const request& receive, const peer& from) noexcept {
    const recv_state& state = receive.state.recv;
    const auto* const buffer = static_cast<const std::byte*>(state.buffer.contiguous());
    if (buffer == nullptr) return true;
    const std::size_t length = state.info.length;
    for (std::size_t i = 0; i < rails_for(from, length); ++i) {
        uct::memory_domain& device = *from.domain_of(from.rail(i));
        const ucs_status_t status = device.prepare({buffer, length}, uct::memory_access::change);
        if (status != UCS_OK && i == 0) return false;
    }
    return true;
}

// Keeps the keys until everything is read. Returns false if there is no memory.
bool keep_keys(request& receive, std::unique_ptr<mem::access_path> memory) noexcept {
    std::unique_ptr<exposed_buffer> kept(new (std::nothrow) exposed_buffer);
    if (kept == nullptr) return false;
    kept->path = std::move(memory);
    kept->address = receive.state.recv.remote_address;
    receive.state.recv.set_exposed(std::move(kept));
    return true;
}

// The lanes may have been made anew since the RTS, and keys are for devices: the peer may have
// exposed nothing on the device of today's lane.
bool is_readable(const peer& from, const rts_info& message) noexcept {
    if (message.address == 0) return false;
    if (!from.rma_attr().keyed) return true;
    return message.memory != nullptr && message.memory->key_for(from.rma_device()) != nullptr;
}

}  // namespace

void rndv_notify_sender(const ep& from, std::uint64_t send, ucs_status_t status,
                        std::uint64_t reply) {
    const wire::ats_header header{send, status, reply, from.remote_id()};
    from.remote().send_control(wire::rndv_ats, std::as_bytes(std::span(&header, 1)));
}

void rndv_receive(request& receive, ep& from, rts_info message) {
    recv_state& state = receive.state.recv;
    state.remote_id = message.request;
    state.remote_address = message.address;
    state.confirm = message.confirm;
    if (message.total > state.buffer.capacity()) {
        // Nothing is moved: the message is consumed, and the sender completes without an error.
        rndv_notify_sender(from, message.request, UCS_OK);
        finish_receive(receive, UCS_ERR_MESSAGE_TRUNCATED);
        return;
    }
    if (message.total == 0) {
        // The RTS was the whole message.
        rndv_notify_sender(from, message.request, UCS_OK);
        finish_receive(receive, UCS_OK);
        return;
    }
    // The lanes of an endpoint that waits for its peer's reply may not be connected yet, and they
    // may be replaced while a read waits in them.
    const bool is_reached =
        wireup::is_established(from.connection()) && from.remote().rma() != nullptr;
    const bool keyed = is_reached && from.remote().rma_attr().keyed;
    const bool readable =
        is_reached && state.buffer.in_memory() && is_readable(from.remote(), message);
    state.keyed = keyed;
    state.method = readable || keyed ? choose_method(receive, from, readable) : rndv_method::stream;
    switch (state.method) {
        case rndv_method::read:
            receive.owner->count(activity::reads);
            if (!prepare(receive, from.remote())) break;
            if (keyed && !keep_keys(receive, std::move(message.memory))) break;
            begin_timing(receive);
            return read_data(receive);
        case rndv_method::split:
            receive.owner->count(activity::splits);
            begin_timing(receive);
            return split_data(receive);
        case rndv_method::write:
            receive.owner->count(activity::writes);
            if (!ask_to_write(receive)) break;
            return;
        case rndv_method::stream:
            receive.owner->count(activity::streams);
            begin_timing(receive);
            return ask_for_data(receive);
    }
    stream_instead(receive);
}

bool rndv_is_read(const uct::pending_request& queued) noexcept {
    return queued.progress == progress_read;
}

void rndv_drop_read(uct::pending_request& queued) noexcept {
    recv_state& state = request::of(queued).state.recv;
    if (--state.parts.count == 0) end_access(state);
}

void rndv_unqueue(request& receive) {
    if (!receive.pending.pending_hook.is_linked()) return;
    receive.via->remote().rma_lane().pending_remove(receive.pending);
    if (--receive.state.recv.parts.count == 0) end_access(receive.state.recv);
}

void rndv_abandon(request& receive) {
    end_peer_part(receive, UCS_OK);  // the receive has its status already
}

bool rndv_forget_peer(request& receive) noexcept {
    recv_state& state = receive.state.recv;
    if (state.awaits != rndv_reply::written) return state.parts.count != 0;
    state.awaits = rndv_reply::none;
    if (--state.parts.count != 0) return true;
    end_access(state);
    return false;
}

void rndv_request_dropped(worker& owner, std::uint64_t reply) {
    request** const found = owner.recv_ids().find(reply);
    if (found == nullptr || (*found)->state.recv.awaits != rndv_reply::written) return;
    request& receive = **found;
    if (receive.state.recv.holds != nullptr) {
        receive.state.recv.holds->let_go(receive);
        rndv_abandon(receive);
    } else {
        static_cast<void>(rndv_forget_peer(receive));
    }
}

void abort_receive(request& receive, ucs_status_t status) {
    recv_state& state = receive.state.recv;
    if (state.remote_id != 0)
        rndv_notify_sender(*receive.via, state.remote_id, UCS_ERR_CONNECTION_RESET);
    rndv_unqueue(receive);
    const bool peer_gone = receive.via->remote().dead();
    const bool busy = peer_gone ? rndv_forget_peer(receive) : state.parts.count != 0;
    if (!busy) {
        finish_receive(receive, status);
        return;
    }
    // The buffer is still being written: the receive ends when that is over.
    state.outcome = status;
    const bool written = state.awaits == rndv_reply::written;
    if (!written) release_receive_id(receive);
    peer& from = receive.via->remote();
    receive.via->remove_recv(receive);
    receive.via = nullptr;
    if (written) from.keep(receive);
}

void rndv_listen(worker& owner, uct::iface& iface) {
    handler_of<wire::rndv_atp>::install_plain<wire::atp_header, on_atp>(iface, owner);
    handler_of<wire::rndv_data>::install<deliver_data, locate_data, landed_data>(
        iface, &owner, sizeof(wire::data_header));
}

}  // namespace ucp
