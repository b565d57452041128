// Writing of a message's data to the receiver's memory; the functions are declared in sender.hpp.
#include <algorithm>
#include <array>

#include "ucp/core/worker.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/rndv/rndv_send.hpp"
#include "ucp/rndv/sender.hpp"
#include "ucp/rndv/wire.hpp"
#include "ucp/staging/staged_source.hpp"

namespace ucp {

namespace {

uct::remote_place place_of(const request& send) noexcept {
    const auto& state = send.as<rndv_send>();
    const mem::access_path* const memory =
        state.exposed != nullptr ? state.exposed->path.get() : nullptr;
    const std::uint8_t device = send.via->remote().lanes().rma_device();
    return {state.target + state.offset, memory == nullptr ? nullptr : memory->key_for(device)};
}

// Writes the rest over all rails. Returns false if a single rail is to be used.
bool write_striped(request& send) noexcept {
    auto& state = send.as<rndv_send>();
    if (state.exposed == nullptr || state.offset == state.end) return false;
    auto* const bytes = static_cast<const std::byte*>(state.buffer.contiguous());
    const striped_work work{.put = true,
                            .local = const_cast<std::byte*>(bytes) + state.offset,
                            .remote = state.target + state.offset,
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
    auto& state = send.as<rndv_send>();
    if (state.offset > 0 || !send.via->remote().lanes().carries_messages(lane))
        return UCS_ERR_UNSUPPORTED;
    const uct::iov all{const_cast<void*>(state.buffer.contiguous()), state.end};
    const wire::atp_header header{state.reply, UCS_OK};
    ++state.parts.count;
    const ucs_status_t status =
        lane.put_zcopy_and_notify(std::span(&all, 1), place_of(send), wire::rndv_atp,
                                  std::as_bytes(std::span(&header, 1)), &state.parts);
    if (status != UCS_INPROGRESS) {
        --state.parts.count;
        return status;
    }
    state.offset = state.end;
    state.written = written_part::all_notified;
    return UCS_OK;
}

ucs_status_t write_in_place(request& send, uct::ep& lane, std::size_t limit) {
    auto& state = send.as<rndv_send>();
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
    auto& state = send.as<rndv_send>();
    const ssize_t written = lane.put_bcopy(pack_part, &send, place_of(send));
    if (written < 0) return static_cast<ucs_status_t>(written);
    state.offset += static_cast<std::size_t>(written);
    return state.short_pack ? UCS_ERR_INVALID_PARAM : UCS_OK;
}

// Writes data of a device from the host memory to which it was copied.
ucs_status_t write_staged(request& send, uct::ep& lane, std::size_t limit) {
    auto& state = send.as<rndv_send>();
    if (const ucs_status_t status = staged_source::attach(send); status != UCS_OK) return status;
    staged_source& source = *staged_source::of(send);
    while (state.offset < state.end) {
        staged_source::range ready;
        ucs_status_t status = source.find(state.offset, ready);
        if (status != UCS_OK) return status;
        const std::size_t length = std::min({ready.length, limit, state.end - state.offset});
        const uct::iov piece{ready.bytes, length};
        ++ready.used->count;
        status = lane.put_zcopy(std::span(&piece, 1), place_of(send), ready.used);
        if (status != UCS_INPROGRESS) --ready.used->count;
        if (status != UCS_OK && status != UCS_INPROGRESS) return status;
        state.offset += length;
        source.pass(state.offset);
    }
    return UCS_OK;
}

// Copied pieces report no arrival, so a flush waits for them. Later messages follow them in any
// case: a lane that accesses memory by keys is the message lane as well (ucp/wireup/select.cpp).
ucs_status_t await_copied(send_state& state, uct::ep& lane) {
    ++state.parts.count;
    const ucs_status_t status = lane.flush(&state.parts);
    if (status != UCS_INPROGRESS) --state.parts.count;
    return status == UCS_INPROGRESS ? UCS_OK : status;
}

}  // namespace

ucs_status_t write_rest(request& send) {
    auto& state = send.as<rndv_send>();
    const peer& to = send.via->remote();
    uct::ep* lane = to.lanes().rma();
    const bool in_place = state.buffer.contiguous() != nullptr && !state.copies;
    if (lane == nullptr || (!in_place && !to.lanes().rma_attr().keyed)) return UCS_ERR_UNSUPPORTED;
    if (state.buffer.on_device()) return write_staged(send, *lane, to.lanes().rma_attr().max_rma);
    if (in_place && write_striped(send)) return UCS_OK;
    if (in_place && state.written == written_part::all) {
        const ucs_status_t status = write_and_notify(send, *lane);
        if (status != UCS_ERR_UNSUPPORTED) return status;
    }
    while (state.offset < state.end) {
        const ucs_status_t status = in_place
                                        ? write_in_place(send, *lane, to.lanes().rma_attr().max_rma)
                                        : write_copied(send, *lane);
        if (status != UCS_OK) return status;
    }
    return in_place ? UCS_OK : await_copied(state, *lane);
}

}  // namespace ucp
