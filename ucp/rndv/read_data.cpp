#include "ucp/rndv/read_data.hpp"

#include <array>
#include <new>

#include "ucp/core/worker.hpp"
#include "ucp/proto/striped.hpp"

namespace ucp {

namespace {

constexpr std::size_t max_pieces = 16;

// If a device other than the first cannot use the buffer, there are fewer rails.
bool register_buffer(const request& receive, const peer& from) noexcept {
    const auto& state = receive.as<rndv_recv>();
    const auto* const buffer = static_cast<const std::byte*>(state.buffer.contiguous());
    if (buffer == nullptr || state.source == data_source::device) return true;
    const std::size_t length = state.info.length;
    for (std::size_t i = 0; i < rails_for(from, length); ++i) {
        uct::memory_domain& device = *from.lanes().rail(i).domain();
        const ucs_status_t status = device.prepare({buffer, length}, uct::memory_access::change);
        if (status != UCS_OK && i == 0) return false;
    }
    return true;
}

bool keep_keys(request& receive, std::unique_ptr<mem::access_path> memory) noexcept {
    std::unique_ptr<exposed_buffer> kept(new (std::nothrow) exposed_buffer);
    if (kept == nullptr) return false;
    kept->path = std::move(memory);
    kept->address = receive.as<rndv_recv>().remote_address;
    receive.as<rndv_recv>().set_exposed(std::move(kept));
    return true;
}

// Returns the lane that reads the data; nullptr if it is gone.
const lane* lane_for(const rndv_recv& state, const peer& from) noexcept {
    const peer_lanes& lanes = from.lanes();
    if (state.source == data_source::device)
        return lanes.device.is_open() ? &lanes.device : nullptr;
    return lanes.rma() != nullptr ? &lanes.rma_place() : nullptr;
}

uct::remote_place source_of(const rndv_recv& state, const lane& used) noexcept {
    if (!state.has_exposed) return {state.remote_address};
    return {state.exposed->address, state.exposed->path->key_for(used.device)};
}

bool is_wanted(const uct::completion& parts) noexcept {
    return receive_of(const_cast<uct::completion&>(parts)).via != nullptr;
}

// Reads [state.offset, state.end) over all rails. Returns false if a single rail is to be used.
bool read_striped(request& receive) noexcept {
    auto& state = receive.as<rndv_recv>();
    auto* const buffer = static_cast<std::byte*>(state.buffer.contiguous());
    if (!state.has_exposed || buffer == nullptr || state.source == data_source::device)
        return false;
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
    auto& state = receive.as<rndv_recv>();
    const lane* const used = lane_for(state, receive.via->remote());
    if (used == nullptr) {  // the system refused another receive meanwhile
        state.parts.status = UCS_ERR_UNSUPPORTED;
        return UCS_OK;
    }
    if (read_striped(receive)) return UCS_OK;
    if (state.source == data_source::device) receive.owner->interfaces().activate(used->resource);
    const uct::iface_attr& attr = used->attr();
    const uct::remote_place from = source_of(state, *used);
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
        const ucs_status_t status = used->endpoint->get_zcopy(
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
    if (status != UCS_ERR_NO_RESOURCE) receive.as<rndv_recv>().parts.finish(UCS_OK);
    return status;
}

}  // namespace

bool is_readable_on_device(const peer& from, const rts_info& message) noexcept {
    return message.address != 0 && message.memory != nullptr && from.lanes().device.is_open() &&
           message.memory->key_for(mem::cuda_devices) != nullptr;
}

// The lanes may have been made anew since the RTS, and keys are for devices: the peer may have
// exposed nothing on the device of today's lane.
bool is_readable(const peer& from, const rts_info& message) noexcept {
    if (message.address == 0) return false;
    if (!from.lanes().rma_attr().keyed) return message.memory == nullptr;
    return message.memory != nullptr &&
           message.memory->key_for(from.lanes().rma_device()) != nullptr;
}

bool prepare_read(request& receive, const peer& from,
                  std::unique_ptr<mem::access_path> memory) noexcept {
    if (!register_buffer(receive, from)) return false;
    const auto& state = receive.as<rndv_recv>();
    return state.source == data_source::host || keep_keys(receive, std::move(memory));
}

void read_data(request& receive, std::size_t end) {
    receive.as<rndv_recv>().end = end;
    receive.pending.progress = progress_read;
    if (progress_read(receive.pending) == UCS_ERR_NO_RESOURCE) {
        lane_for(receive.as<rndv_recv>(), receive.via->remote())
            ->endpoint->pending_add(receive.pending);
    }
}

bool rndv_is_read(const uct::pending_request& queued) noexcept {
    return queued.progress == progress_read;
}

void rndv_drop_read(uct::pending_request& queued) noexcept {
    auto& state = request::of(queued).as<rndv_recv>();
    if (--state.parts.count == 0) end_access(state);
}

void unqueue_read(request& receive) {
    if (!receive.pending.pending_hook.is_linked()) return;
    const peer_lanes& lanes = receive.via->remote().lanes();
    (receive.as<rndv_recv>().source == data_source::device ? *lanes.device.endpoint
                                                           : lanes.rma_lane())
        .pending_remove(receive.pending);
    if (--receive.as<rndv_recv>().parts.count == 0) end_access(receive.as<rndv_recv>());
}

void end_access(rndv_recv& state) noexcept {
    if (std::exchange(state.has_exposed, false)) delete state.exposed;
}

}  // namespace ucp
