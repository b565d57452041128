// Rendezvous by writing: the sender writes to the receiver's memory, either one half while the
// receiver reads the other, or all of it if a device does it.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "ucp/log/log.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/rndv/choice.hpp"
#include "ucp/rndv/replies.hpp"

namespace ucp {

namespace {

std::size_t pack_atp(void* arg, void* into, std::size_t) {
    const send_state& state = static_cast<request*>(arg)->state.send;
    const wire::atp_header header{state.remote_id, UCS_OK};
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
    notify_receive(send.via->remote(), send.state.send.remote_id, UCS_ERR_CANCELED);
}

constinit const protocol atp_phase{"rndv/write", "", nullptr, send_atp, true, cancel_atp};

// All pieces are written or failed: notifies the receiver. If the receiver reads a part itself, it
// notifies the sender when that is done, and also when it had to read everything.
void part_written(uct::completion& parts) noexcept {
    request& send =
        request::of(*boost::intrusive::get_parent_from_member(&parts, &send_state::parts));
    const send_state& state = send.state.send;
    const ucs_status_t status = parts.status;
    if (state.aborted) {
        if (!state.write_notifies) notify_receive(*state.holds, state.remote_id, UCS_ERR_CANCELED);
        finish_send(send, status);
        return;
    }
    if (state.writes_all && !state.write_notifies && status == UCS_OK) {
        start_with(send, atp_phase);
        return;
    }
    if (!state.write_notifies) {
        notify_receive(send.via->remote(), state.remote_id,
                       status == UCS_OK ? UCS_OK : UCS_ERR_UNSUPPORTED);
    }
    const bool over = state.writes_all && state.write_notifies;
    const bool given_up = state.local_id == 0;  // by the receiver
    if (over || given_up) finish_send(send, status);
}

// The receiver's address is stored in the member of the tag, which is not needed any more.
uct::remote_place place_of(const request& send) noexcept {
    const send_state& state = send.state.send;
    const mem::access_path* const memory = state.has_exposed ? state.exposed->path.get() : nullptr;
    const std::uint8_t device = send.via->remote().rma_device();
    return {state.remote_address() + state.offset,
            memory == nullptr ? nullptr : memory->key_for(device)};
}

// Writes the rest over all rails. Returns false if a single rail is to be used.
bool write_striped(request& send) noexcept {
    send_state& state = send.state.send;
    if (!state.has_exposed || state.offset == state.end) return false;
    auto* const bytes = static_cast<const std::byte*>(state.buffer.contiguous());
    const striped_work work{.put = true,
                            .local = const_cast<std::byte*>(bytes) + state.offset,
                            .remote = state.remote_address() + state.offset,
                            .length = state.end - state.offset,
                            .memory = state.exposed->path.get(),
                            .most_rails = send.owner->owner().options().rndv_rails};
    if (!striped_access::begin(send.via->remote(), work, state.parts, is_wanted_by_send))
        return false;
    state.offset = state.end;
    return true;
}

// If one request of the device is enough, a second one follows it at once and notifies the
// receiver. UCS_ERR_UNSUPPORTED: that is not possible.
ucs_status_t write_and_notify(request& send, uct::ep& lane) {
    send_state& state = send.state.send;
    if (state.offset > 0 || !send.via->remote().carries_messages(lane)) return UCS_ERR_UNSUPPORTED;
    const uct::iov all{const_cast<void*>(state.buffer.contiguous()), state.end};
    const wire::atp_header header{state.remote_id, UCS_OK};
    ++state.parts.count;
    const ucs_status_t status =
        lane.put_zcopy_and_notify(std::span(&all, 1), place_of(send), wire::rndv_atp,
                                  std::as_bytes(std::span(&header, 1)), &state.parts);
    if (status != UCS_INPROGRESS) {
        --state.parts.count;
        return status;
    }
    state.offset = state.end;
    state.write_notifies = true;
    return UCS_OK;
}

ucs_status_t write_in_place(request& send, uct::ep& lane, std::size_t limit) {
    send_state& state = send.state.send;
    std::array<uct::iov, 1> piece;
    const dt::piece_list list =
        state.buffer.pieces(state.offset, std::min(limit, state.end - state.offset), piece);
    ++state.parts.count;
    const ucs_status_t status = lane.put_zcopy(piece, place_of(send), &state.parts);
    if (status != UCS_INPROGRESS) --state.parts.count;
    if (status != UCS_OK && status != UCS_INPROGRESS) return status;
    state.offset += list.length;
    return UCS_OK;
}

std::size_t pack_part(void* arg, void* into, std::size_t capacity) {
    send_state& state = static_cast<request*>(arg)->state.send;
    const std::size_t room = std::min(capacity, state.end - state.offset);
    const std::size_t packed = state.buffer.pack(static_cast<std::byte*>(into), state.offset, room);
    if (packed == 0) state.short_pack = true;
    return packed;
}

// Data in pieces, and data whose registration is not worthwhile, goes through the device's buffers,
// which are filled while others leave.
ucs_status_t write_copied(request& send, uct::ep& lane) {
    send_state& state = send.state.send;
    const ssize_t written = lane.put_bcopy(pack_part, &send, place_of(send));
    if (written < 0) return static_cast<ucs_status_t>(written);
    state.offset += static_cast<std::size_t>(written);
    return state.short_pack ? UCS_ERR_INVALID_PARAM : UCS_OK;
}

// Copied pieces report no arrival, so a flush waits for them. Later messages follow them in any
// case: a lane that accesses memory by keys is the message lane as well (ucp/wireup/select.cpp).
ucs_status_t await_copied(send_state& state, uct::ep& lane) {
    ++state.parts.count;
    const ucs_status_t status = lane.flush(&state.parts);
    if (status != UCS_INPROGRESS) --state.parts.count;
    return status == UCS_INPROGRESS ? UCS_OK : status;
}

// UCS_ERR_NO_RESOURCE: call again. After any other error the receiver gets all data by another
// method.
ucs_status_t write_rest(request& send) {
    send_state& state = send.state.send;
    const peer& to = send.via->remote();
    uct::ep* lane = to.rma();
    const bool in_place = state.buffer.contiguous() != nullptr && !state.copies;
    if (lane == nullptr || (!in_place && !to.rma_attr().keyed)) return UCS_ERR_UNSUPPORTED;
    if (in_place && write_striped(send)) return UCS_OK;
    if (in_place && state.writes_all) {
        const ucs_status_t status = write_and_notify(send, *lane);
        if (status != UCS_ERR_UNSUPPORTED) return status;
    }
    while (state.offset < state.end) {
        const ucs_status_t status = in_place ? write_in_place(send, *lane, to.rma_attr().max_rma)
                                             : write_copied(send, *lane);
        if (status != UCS_OK) return status;
    }
    return in_place ? UCS_OK : await_copied(state, *lane);
}

ucs_status_t progress(request& send) {
    send_state& state = send.state.send;
    const ucs_status_t status = write_rest(send);
    if (status == UCS_ERR_NO_RESOURCE) return status;
    state.guarded = false;
    state.parts.finish(status);
    return UCS_OK;
}

// The second phase; never selected, so it has no prediction.
constinit const protocol write_phase{"rndv/write", "", nullptr, progress, true, nullptr, true};

// Takes the keys to the memory that the receiver exposes. Returns false if there are none, or no
// memory for them.
bool take_target(request& send, std::span<const std::byte> keys) {
    send_state& state = send.state.send;
    auto path = take_keys(*send.via, keys, uct::memory_access::change);
    if (path == nullptr) return false;
    if (!state.has_exposed) {
        std::unique_ptr<exposed_buffer> fresh(new (std::nothrow) exposed_buffer);
        if (fresh == nullptr) return false;
        state.set_exposed(std::move(fresh));
    }
    state.exposed->path = std::move(path);
    return true;
}

}  // namespace

bool is_sending_atp(const request& send) noexcept {
    return send.state.send.proto == &atp_phase;
}

void notify_receive(peer& to, std::uint64_t reply, ucs_status_t status) {
    const wire::atp_header header{reply, status};
    to.send_control(wire::rndv_atp, std::as_bytes(std::span(&header, 1)));
}

void rndv_write_part(request& send, const wire::rtr_header& where, std::span<const std::byte> key) {
    send_state& state = send.state.send;
    if (state.parts.count != 0 || where.from > state.buffer.length()) {
        send.owner->rejected().warn(proto_log,
                                    "a request to write a part of a message does not fit: dropped");
        return;
    }
    const peer& to = send.via->remote();
    const bool known = state.has_exposed;  // to the devices, since the RTS was sent
    state.copies = state.copies || (!known && !pays_in_place(send, uct::memory_user::own));
    if (to.rail_count() > 0 && !take_target(send, key)) {
        notify_receive(send.via->remote(), where.reply, UCS_ERR_UNSUPPORTED);
        return;
    }
    state.remote_id = where.reply;
    state.set_remote_address(where.address);
    state.offset = where.from;
    state.end = state.buffer.length();
    state.writes_all = where.from == 0;
    state.write_notifies = false;
    state.parts = {.done = part_written, .count = 1};
    state.guarded = true;
    start_with(send, write_phase);
}

}  // namespace ucp
