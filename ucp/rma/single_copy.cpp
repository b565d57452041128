// Put and get by a lane that reaches the peer's memory.
#include <algorithm>
#include <array>

#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/mem/access_path.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/rma.hpp"
#include "ucp/wireup/lane_setup.hpp"

namespace ucp {

namespace {

constexpr std::size_t max_pieces = 16;

// For shorter data a copy costs less than looking up or making the registration of the program's
// memory.
constexpr std::size_t least_registered = 2048;

ucs_status_t access(uct::ep& lane, const uct::iface_attr& attr, bool put,
                    std::span<const uct::iov> pieces, const uct::remote_place& target,
                    uct::completion& parts) {
    const bool copied = attr.keyed && !attr.reaches_only_devices() && !put && pieces.size() == 1 &&
                        pieces[0].length <= std::min(least_registered, attr.max_get_bcopy);
    ++parts.count;
    ucs_status_t status;
    if (copied) {
        status = lane.get_bcopy(pieces[0].base, pieces[0].length, target, &parts);
    } else {
        status =
            put ? lane.put_zcopy(pieces, target, &parts) : lane.get_zcopy(pieces, target, &parts);
    }
    if (status != UCS_INPROGRESS) --parts.count;
    return status == UCS_INPROGRESS ? UCS_OK : status;
}

// Returns the lane that reaches the memory; nullptr if it is gone or not used any more.
const lane* lane_for(const request& send) noexcept {
    const peer_lanes& lanes = send.via->remote().lanes();
    if (send.state.send.proto->lane == lane_use::device)
        return lanes.device.is_open() ? &lanes.device : nullptr;
    return lanes.rma() != nullptr ? &lanes.rma_place() : nullptr;
}

// Moves all data over several rails. Returns false if one rail should do it.
bool copy_striped(request& send) noexcept {
    auto& state = send.as<remote_op>();
    auto* const bytes = static_cast<const std::byte*>(state.buffer.contiguous());
    if (bytes == nullptr || state.offset > 0 || state.proto->lane != lane_use::memory) return false;
    const striped_work work{.put = state.kind == send_kind::put,
                            .local = const_cast<std::byte*>(bytes),
                            .remote = state.address,
                            .length = state.end,
                            .memory = state.key->devices(),
                            .most_rails = send.owner->owner().options().rma_rails};
    if (!striped_access::begin(send.via->remote(), work, state.parts, is_wanted_by_send))
        return false;
    state.offset = state.end;
    return true;
}

// UCS_ERR_NO_RESOURCE means call again. Other errors end the operation.
ucs_status_t copy_rest(request& send) {
    auto& state = send.as<remote_op>();
    if (copy_striped(send)) return UCS_OK;
    const lane* const used = lane_for(send);
    if (used == nullptr) return UCS_ERR_UNSUPPORTED;  // another operation was refused meanwhile
    const uct::iface_attr& attr = used->attr();
    const uct::remote_memory* const memory =
        attr.keyed ? state.key->key_for(used->device) : nullptr;
    std::array<uct::iov, max_pieces> pieces;
    const auto pieces_view = std::span(pieces).first(std::min(max_pieces, attr.max_iov));
    while (state.offset < state.end) {
        const std::size_t length = std::min(state.end - state.offset, attr.max_rma);
        const dt::piece_list list = state.buffer.pieces(state.offset, length, pieces_view);
        const ucs_status_t status = access(*used->endpoint, attr, state.kind == send_kind::put,
                                           pieces_view.first(list.count),
                                           {state.address + state.offset, memory}, state.parts);
        if (status != UCS_OK) return status;
        state.offset += list.length;
    }
    return UCS_OK;
}

// Only the choice of the method changes; data that was copied is copied again.
void use_messages(request& send) {
    auto& state = send.as<remote_op>();
    state.offset = 0;
    state.started = false;
    start_rma_with(send, state.kind == send_kind::put ? rma_put_messages : rma_get_messages);
}

void copied(uct::completion& parts) noexcept {
    request& send =
        request::of(*boost::intrusive::get_parent_from_member(&parts, &send_state::parts));
    const ucs_status_t status = parts.status;
    const bool over_device_lane = send.state.send.proto->lane == lane_use::device;
    if (status != UCS_OK && over_device_lane && send.state.send.holds == nullptr) {
        // The log of the transport has the reason.
        return use_messages(send);
    }
    if (status == UCS_ERR_UNSUPPORTED && send.state.send.holds == nullptr) {
        slot_of<wireup::lane_setup>(send.via->remote()).drop_rma(rma_state::refused);
        return use_messages(send);
    }
    if (mem::is_out_of_devices_reach(status) && send.state.send.holds == nullptr) {
        return use_messages(send);
    }
    if (status != UCS_OK && send.state.send.holds == nullptr) {
        ucs::log::error(proto_log, "a {} of {} bytes at {:#x} in the memory of {} failed: {}",
                        traits(send.state.send.kind).title, send.state.send.buffer.length(),
                        send.as<remote_op>().address, send.via->remote().lanes().peer_name(),
                        ucs_status_string(status));
    }
    finish_send(send, status);
}

ucs_status_t progress(request& send) {
    auto& state = send.as<remote_op>();
    if (!state.started) {
        state.started = true;
        if (state.proto->lane == lane_use::device)
            send.owner->interfaces().activate(send.via->remote().lanes().device.resource);
        state.end = state.buffer.length();
        state.guarded = true;
        state.parts = {.done = copied, .count = 1};
    }
    const ucs_status_t status = copy_rest(send);
    if (status == UCS_ERR_NO_RESOURCE) return status;
    state.guarded = false;
    state.parts.finish(status);
    return UCS_OK;
}

}  // namespace

constinit const protocol rma_single_copy{
    "rma/single_copy", "copied once, from memory to memory", nullptr, progress, false, nullptr,
    lane_use::memory};

constinit const protocol rma_device_copy{"rma/device_copy",
                                         "copied by a device, from memory to memory",
                                         nullptr,
                                         progress,
                                         false,
                                         nullptr,
                                         lane_use::device};

}  // namespace ucp
