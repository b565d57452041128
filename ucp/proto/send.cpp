#include "ucp/proto/send.hpp"

#include <array>
#include <cstring>
#include <new>

#include "ucp/core/events.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/log/log.hpp"
#include "ucp/mem/access_path.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/proto/message_state.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/proto/short_path.hpp"
#include "ucp/proto/tables.hpp"
#include "ucp/staging/staged_source.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

namespace {

constexpr std::size_t max_header = 64;
constexpr std::size_t max_pieces = 16;

ucs_status_t progress_queued(uct::pending_request& queued) noexcept {
    request& send = request::of(queued);
    // A callback that sends must not overtake the requests that are queued.
    defer_callbacks(send);
    const ucs_status_t status = send.state.send.proto->progress(send);
    allow_callbacks(send);
    return status;
}

request& of_parts(uct::completion& parts) noexcept {
    return request::of(*boost::intrusive::get_parent_from_member(&parts, &send_state::parts));
}

void parts_done(uct::completion& parts) noexcept {
    request& send = of_parts(parts);
    const ucs_status_t status = parts.status;
    const send_state& state = send.state.send;
    if (status != UCS_OK && state.holds == nullptr && state.proto->failed != nullptr)
        state.proto->failed(send, status);
    if (status != UCS_OK || state.holds != nullptr) {
        finish_send(send, status);
        return;
    }
    send.state.send.fragments_done(send);
}

struct packing {
    request* send;
    const fragment_writer* writer;
    staged_source::range staged{};  // the data, if it comes from a device
};

std::size_t pack_fragment(void* arg, void* into, std::size_t capacity) {
    auto& job = *static_cast<packing*>(arg);
    send_state& state = job.send->state.send;
    job.writer->make_header(*job.send, into);
    const std::size_t header = job.writer->header_length;
    const std::size_t part = std::min(capacity - header, state.end - state.offset);
    auto* const place = static_cast<std::byte*>(into) + header;
    std::size_t packed = std::min(part, job.staged.length);
    if (job.staged.bytes != nullptr) [[unlikely]] {
        std::memcpy(place, job.staged.bytes, packed);
    } else {
        packed = state.buffer.pack(place, state.offset, part);
    }
    state.offset += packed;
    // A packing function that returns nothing would be called for ever.
    if (packed == 0 && part != 0) state.short_pack = true;
    return header + packed;
}

ucs_status_t send_copied(request& send, const fragment_writer& writer) {
    packing job{&send, &writer};
    const ssize_t sent = send.via->lane().am_bcopy(writer.id, pack_fragment, &job);
    if (sent >= 0 && send.state.send.short_pack) return UCS_ERR_INVALID_PARAM;
    return sent >= 0 ? UCS_OK : static_cast<ucs_status_t>(sent);
}

ucs_status_t send_in_place(request& send, const fragment_writer& writer, std::size_t limit) {
    send_state& state = send.state.send;
    std::array<std::byte, max_header> header;
    writer.make_header(send, header.data());
    std::array<uct::iov, max_pieces> pieces;
    const std::size_t part = std::min(limit, state.end - state.offset);
    const std::size_t count = std::min(max_pieces, send.via->remote().lanes().am_attr().max_iov);
    const dt::piece_list list =
        state.buffer.pieces(state.offset, part, std::span(pieces).first(count));
    ++state.parts.count;
    const ucs_status_t status =
        send.via->lane().am_zcopy(writer.id, std::span(header).first(writer.header_length),
                                  std::span(pieces).first(list.count), &state.parts);
    if (status != UCS_INPROGRESS) --state.parts.count;
    if (status == UCS_OK || status == UCS_INPROGRESS) {
        state.offset += list.length;
        return UCS_OK;
    }
    return status;
}

// Returns the largest payload of a zero-copy fragment of the next `length` bytes; 0: they are
// copied.
std::size_t zcopy_limit(const request& send, std::size_t header, std::size_t length) {
    const uct::iface_attr& attr = send.via->remote().lanes().am_attr();
    if (!attr.ops.has(uct::op::am_zcopy) || header > attr.max_zcopy_header) return 0;
    const config& options = send.owner->owner().options();
    const std::size_t threshold =
        options.zcopy_threshold.is_auto() ? attr.max_bcopy : options.zcopy_threshold.bytes;
    if (length < threshold) return 0;
    return std::min(options.fragment.size.bytes, attr.max_zcopy - header);
}

// The same for data that lies in the buffer.
std::size_t in_place_limit(const request& send, std::size_t header) {
    const send_state& state = send.state.send;
    if (state.copies || !state.buffer.in_memory()) return 0;
    return zcopy_limit(send, header, state.end - state.offset);
}

// Sends a fragment from host memory to which data of a device was copied.
ucs_status_t send_staged(request& send, const fragment_writer& writer) {
    send_state& state = send.state.send;
    ucs_status_t status = staged_source::attach(send);
    if (status != UCS_OK) return status;
    staged_source& source = *staged_source::of(send);
    packing job{&send, &writer};
    status = source.find(state.offset, job.staged);
    if (status != UCS_OK) return status;
    const std::size_t ready = std::min(job.staged.length, state.end - state.offset);
    const std::size_t limit = state.copies ? 0 : zcopy_limit(send, writer.header_length, ready);
    if (limit == 0) {
        const ssize_t sent = send.via->lane().am_bcopy(writer.id, pack_fragment, &job);
        if (sent < 0) return static_cast<ucs_status_t>(sent);
    } else {
        std::array<std::byte, max_header> header;
        writer.make_header(send, header.data());
        const uct::iov piece{job.staged.bytes, std::min(limit, ready)};
        ++job.staged.used->count;
        status = send.via->lane().am_zcopy(writer.id, std::span(header).first(writer.header_length),
                                           std::span(&piece, 1), job.staged.used);
        if (status != UCS_INPROGRESS) --job.staged.used->count;
        if (mem::is_out_of_devices_reach(status)) {
            state.copies = true;
            return send_staged(send, writer);
        }
        if (status != UCS_OK && status != UCS_INPROGRESS) return status;
        state.offset += piece.length;
    }
    source.pass(state.offset);
    return UCS_OK;
}

// Returns true if the device has the memory registered, or if registering it costs less than a
// copy. For several fragments, all memory is registered at once. If each fragment was registered
// separately, neighbours would share a page, and each would be registered together with all before
// it.
bool is_prepared(const request& send, std::size_t limit) noexcept {
    const send_state& state = send.state.send;
    const void* const buffer = state.buffer.contiguous();
    uct::memory_domain* const device = send.via->remote().lanes().message.domain();
    if (state.offset > 0 || buffer == nullptr || device == nullptr) return true;
    const std::span bytes(static_cast<const std::byte*>(buffer), state.end);
    const double price = slot_of<protocol_tables>(*send.owner)
                             .reuse.price_of(device->preparation_of(bytes, uct::memory_access::read,
                                                                    uct::memory_user::own));
    const double copy =
        static_cast<double>(state.end) / send.owner->owner().costs().copy_bandwidth(state.end);
    if (price > copy) return false;
    return state.end <= limit || device->prepare(bytes, uct::memory_access::read) == UCS_OK;
}

send_kind rendezvous_kind(send_kind kind) noexcept {
    if (kind == send_kind::tag) return send_kind::tag_rndv;
    if (kind == send_kind::tag_sync) return send_kind::tag_sync_rndv;
    return kind;
}

void defer(request& send) noexcept {
    send.pending.progress = progress_queued;  // not started before the connection is ready
    slot_of<deferred_sends>(send.via->remote()).defer(send);
}

uct::ep& lane_of(const ep& via, lane_use use) noexcept {
    switch (use) {
        case lane_use::message:
            break;
        case lane_use::memory:
            return via.remote().lanes().rma_lane();
        case lane_use::device:
            return *via.remote().lanes().device.endpoint;
    }
    return via.lane();
}

// Removes a send from the lane's queue, if it waits there.
void unqueue(request& send) {
    const ep& via = *send.via;
    if (!send.pending.pending_hook.is_linked() || !via.is_connected()) return;
    lane_of(via, send.state.send.proto->lane).pending_remove(send.pending);
}

// Returns true if the order of messages allows the send to begin.
bool choose_protocol(request& send) noexcept {
    message_state& state = send.as<message_state>();
    ep& via = *send.via;
    const send_kind kind =
        slot_of<short_path>(via).must_use_rendezvous() ? rendezvous_kind(state.kind) : state.kind;
    const dt::send_buffer& buffer = state.buffer;
    const send_class properties{
        kind, buffer.contiguous() != nullptr || buffer.device_contiguous() != nullptr,
        buffer.on_device()};
    try {
        const protocol& chosen = slot_of<short_path>(via).protocols().select(
            properties, buffer.length() + state.header_length);
        if (is_tagged(kind) && chosen.rendezvous &&
            !slot_of<deferred_sends>(via.remote()).count_rts(send)) {
            defer(send);
            return false;
        }
        state.kind = kind;
        state.proto = &chosen;
        return true;
    } catch (const std::bad_alloc&) {
        ucs::log::error(proto_log, "out of memory: no protocol is chosen for a {}, it fails",
                        traits(state.kind).title);
        finish_send(send, UCS_ERR_NO_MEMORY);
        return false;
    }
}

}  // namespace

ucs_status_t prepare_device_send(request& send) noexcept {
    send_state& state = send.state.send;
    if (state.kind == send_kind::get || state.kind == send_kind::atomic)
        return state.buffer.stage_result();
    return state.buffer.length() <= longest_staged ? state.buffer.stage_data() : UCS_OK;
}

ucs_status_t refuse_immediate(ep& to) {
    if (to.failure() != UCS_OK) return to.failure();
    if (wireup::state_of(to) == wireup::state::idle) wireup::handle(to, wireup::event::use);
    return UCS_ERR_NO_RESOURCE;
}

void submit(ep& to, request& send) {
    to.operations().add_send(send);
    if (to.failure() != UCS_OK) {
        finish_send(send, to.failure());
        return;
    }
    if (to.is_connected() && !to.operations().is_starting) [[likely]] {
        start_send(send);
        return;
    }
    // Sends that wait for the connection have no transport yet.
    send.pending.progress = nullptr;
    wireup::handle(to, wireup::event::use);
}

void start_waiting(ep& ready) {
    running_operations& running = ready.operations();
    running.is_starting = true;
    // A send that ends at once leaves the list; callbacks of the program run later.
    for (auto next = running.sends().begin(); next != running.sends().end();) {
        request& waiting = *next++;
        if (waiting.pending.progress != nullptr) continue;
        bool allowed = true;
        if (running.has_fences) publish(events::waiting_send_found{waiting, allowed});
        if (!allowed) continue;
        const bool in_call = waiting.flags.has(request_flags::starting);
        defer_callbacks(waiting);
        start_send(waiting);
        if (!in_call) allow_callbacks(waiting);
    }
    running.is_starting = false;
}

void start_send(request& send) {
    if (is_tagged(send.state.send.kind) && !slot_of<deferred_sends>(send.via->remote()).empty())
        [[unlikely]] {
        defer(send);
        return;
    }
    begin_send(send);
}

void begin_send(request& send) {
    send_state& state = send.state.send;
    ep& via = *send.via;
    const std::size_t length = state.buffer.length();
    bool stored = false;
    if (state.proto == nullptr) {
        if (!choose_protocol(send)) return;
        stored = is_tagged(state.kind) && !state.proto->rendezvous;
    }
    send.pending.progress = progress_queued;
    run_send(send);
    // Only now may the sender request credits, because the request covers the messages before it.
    // The send's request may be gone.
    if (stored) slot_of<short_path>(via).add_sent(via, length);
}

void run_send(request& send) {
    uct::ep& lane = send.via->lane();
    if (send.state.send.proto->progress(send) == UCS_ERR_NO_RESOURCE)
        lane.pending_add(send.pending);
}

void continue_send(request& send) {
    const protocol& running = *send.state.send.proto;
    ep& via = *send.via;
    if (running.progress(send) == UCS_ERR_NO_RESOURCE)
        lane_of(via, running.lane).pending_add(send.pending);
}

void start_with(request& send, const protocol& chosen) {
    send.state.send.proto = &chosen;
    send.pending.progress = progress_queued;
    continue_send(send);
}

void stop_staging(request& send) noexcept {
    if (staged_source* const source = staged_source::of(send); source != nullptr) [[unlikely]]
        source->abandon();
}

void finish_send(request& send, ucs_status_t status) {
    send_state& state = send.state.send;
    status = state.buffer.finish(status);
    if (state.owns_header) [[unlikely]]
        delete[] static_cast<const std::byte*>(send.as<message_state>().header);
    if (state.proto != nullptr && state.proto->end != nullptr) state.proto->end(send);
    release_id(send);
    ep* via = send.via;
    if (state.rts_counted) [[unlikely]]
        slot_of<deferred_sends>(via->remote()).rts_lost(send);
    if (state.holds != nullptr) {
        state.holds->release();
        complete(send, status);
        return;
    }
    via->operations().remove_send(send);
    if (status != UCS_OK && is_remote(state.kind) && send.flags.has(request_flags::released))
        [[unlikely]]
        publish(events::operation_lost{*via, status});
    // A flush may not complete before this send; allow_callbacks checks for that.
    const bool quiet = send.flags.has(request_flags::starting);
    complete(send, status);
    if (!quiet) via->operations().check_flushes();
}

void abort_send(request& send, ucs_status_t status) {
    send_state& state = send.state.send;
    peer& to = send.via->remote();
    if (state.proto != nullptr && state.proto->abandon != nullptr) state.proto->abandon(send);
    release_id(send);
    slot_of<deferred_sends>(to).rts_lost(send);
    if (state.proto == nullptr) slot_of<deferred_sends>(to).undefer(send);
    unqueue(send);
    // The parts that are given up must not end the send here.
    ++state.parts.count;
    stop_staging(send);
    --state.parts.count;
    if (state.parts.count == 0) {
        finish_send(send, status);
        return;
    }
    send.via->operations().remove_send(send);
    state.holds = &to;
    to.hold();
    if (state.guarded) {
        state.guarded = false;
        state.parts.finish(status);
    } else if (state.parts.status == UCS_OK) {
        state.parts.status = status;
    }
}

bool assign_id(request& send) noexcept {
    send_state& state = send.state.send;
    state.local_id = slot_of<request_ids>(*send.owner).sends.add(&send);
    if (state.local_id != 0) return true;
    ucs::log::error(proto_log, "out of memory: a {} of {} bytes is not sent",
                    traits(state.kind).title, state.buffer.length());
    return false;
}

void release_id(request& send) noexcept {
    if (send.state.send.local_id != 0) {
        slot_of<request_ids>(*send.owner).sends.remove(std::exchange(send.state.send.local_id, 0));
    }
}

request* find_send(worker& owner, std::uint64_t id) noexcept {
    request** found = slot_of<request_ids>(owner).sends.find(id);
    return found == nullptr ? nullptr : *found;
}

void begin_fragments(request& send, std::size_t end, void (*done)(request& send)) {
    send_state& state = send.state.send;
    state.end = end;
    state.parts.done = parts_done;
    state.parts.count = 1;  // one part is held by send_fragments until all data is handed over
    state.parts.status = UCS_OK;
    state.guarded = true;
    state.fragments_done = done;
}

ucs_status_t send_fragment(request& send, const fragment_writer& writer) {
    if (send.state.send.buffer.on_device()) [[unlikely]]
        return send_staged(send, writer);
    const std::size_t limit = in_place_limit(send, writer.header_length);
    if (limit == 0) return send_copied(send, writer);
    if (is_prepared(send, limit)) {
        const ucs_status_t status = send_in_place(send, writer, limit);
        if (!mem::is_out_of_devices_reach(status)) return status;
    }
    send.state.send.copies = true;
    return send_copied(send, writer);
}

void end_fragments(request& send, ucs_status_t status) {
    if (status != UCS_OK) stop_staging(send);
    send.state.send.guarded = false;
    send.state.send.parts.finish(status);
}

ucs_status_t send_fragments(request& send, const fragment_writer& writer) {
    const send_state& state = send.state.send;
    while (state.offset < state.end) {
        const ucs_status_t status = send_fragment(send, writer);
        if (status == UCS_ERR_NO_RESOURCE) return status;
        if (status == UCS_INPROGRESS) return UCS_OK;
        if (status != UCS_OK) {
            end_fragments(send, status);
            return UCS_OK;
        }
    }
    end_fragments(send, UCS_OK);
    return UCS_OK;
}

}  // namespace ucp
