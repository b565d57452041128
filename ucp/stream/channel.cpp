#include "ucp/stream/channel.hpp"

#include <algorithm>

#include "ucp/core/complete.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/staging/staged_sink.hpp"
#include "ucp/stream/endpoint.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucs/sys/usable_memory.hpp"

namespace ucp {

namespace {

// Keeps small sends from taking a chunk each.
constexpr std::size_t smallest_chunk = 4096;

}  // namespace

stream_channel::stream_channel(ep& endpoint, std::size_t window) noexcept
    : sends(endpoint),
      owner_(endpoint),
      window_(std::max(window, wire::first_stream_window)),
      granted_(wire::first_stream_window) {}

stream_channel::~stream_channel() {
    const auto free = [](stream_chunk* done) { stream_chunk::free(*done); };
    stored_.clear_and_dispose(free);
    handed_out_.clear_and_dispose(free);
}

bool stream_channel::satisfied(const stream_recv_state& state, std::size_t received) noexcept {
    if (received == state.buffer.capacity()) return true;
    return !state.wait_all && received > 0 && received % state.unit == 0;
}

void stream_channel::finish(request& receive, ucs_status_t status) {
    if (finish_buffer(receive.state.stream.buffer, status, complete)) complete(receive, status);
}

std::size_t stream_channel::fill(request& receive, const std::byte* data, std::size_t length) {
    stream_recv_state& state = receive.state.stream;
    const std::size_t part = std::min(length, state.buffer.capacity() - state.received);
    const ucs_status_t status = state.buffer.unpack(data, state.received, part);
    state.received += part;
    if (status != UCS_OK && state.outcome == UCS_OK) state.outcome = status;
    return part;
}

void stream_channel::read_stored(request& receive) {
    stream_recv_state& state = receive.state.stream;
    while (!stored_.empty() && state.received < state.buffer.capacity()) {
        stream_chunk& front = stored_.front();
        const std::size_t part = fill(receive, front.bytes() + front.begin, front.unread());
        front.begin += part;
        note_taken(part);
        if (front.unread() == 0) drop_front();
    }
}

ucs_status_ptr_t stream_channel::receive(void* buffer, std::size_t count, std::size_t& length,
                                         const operation& params) {
    const ucp_datatype_t type = params.datatype();
    if (params.force_immediate() && stored_.empty()) return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
    request* const receive = begin_call(owner_.owner(), params);
    if (receive == nullptr) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    receive->callback.recv_data = params.recv_stream_callback();
    if (receive->callback.recv_data != nullptr) receive->flags.set(request_flags::has_callback);
    stream_recv_state& state = receive->start_stream_recv();
    const ucs_status_t status = state.buffer.init(buffer, count, type);
    if (status != UCS_OK) return abandon_call(*receive, status);
    state.unit = dt::is_contig(type) ? std::max<std::size_t>(1, dt::element_size(type)) : 1;
    state.wait_all = (params.flags() & UCP_STREAM_RECV_FLAG_WAITALL) != 0;
    receive->flags.set(request_flags::matched);
    staged_sink::attach(*receive, state.buffer, state.buffer.capacity());
    // When no more bytes will come, stored bytes that cannot complete this receive are kept for a
    // shorter one.
    const bool is_over = wireup::is_incoming_over(owner_);
    const std::size_t within_reach = is_over ? std::min(stored(), state.buffer.capacity()) : 0;
    if (waiting_.empty() && (!is_over || satisfied(state, within_reach))) read_stored(*receive);
    if (waiting_.empty() && satisfied(state, state.received)) {
        length = state.received;
        finish(*receive, state.outcome);
    } else if (is_over) {
        length = 0;
        finish(*receive, owner_.failure() != UCS_OK ? owner_.failure() : UCS_ERR_CONNECTION_RESET);
    } else {
        waiting_.push_back(*receive);
    }
    return end_call(*receive, params);
}

void* stream_channel::take(std::size_t& length) noexcept {
    if (stored_.empty() || !waiting_.empty()) return nullptr;
    stream_chunk& front = stored_.front();
    stored_.pop_front();
    handed_out_.push_back(front);
    if (stored_.empty()) ready_hook.unlink();
    length = front.unread();
    return front.hand_out();
}

void stream_channel::release(stream_chunk& taken) {
    handed_out_.erase(handed_out_.iterator_to(taken));
    const std::size_t length = taken.unread();
    stream_chunk::free(taken);
    note_taken(length);
}

std::size_t stream_channel::stored() const noexcept {
    std::size_t sum = 0;
    for (const stream_chunk& each : stored_)
        sum += each.unread();
    return sum;
}

void stream_channel::drop_front() noexcept {
    stream_chunk& front = stored_.front();
    stored_.pop_front();
    stream_chunk::free(front);
    if (stored_.empty()) ready_hook.unlink();
}

void stream_channel::drop_stored() noexcept {
    while (!stored_.empty())
        drop_front();
    end_uninvited();
}

void stream_channel::end_uninvited() noexcept {
    const std::size_t counted = std::exchange(unread_, 0);
    slot_of<worker_streams>(owner_.owner())
        .unread.give_back(slot_of<peer_unread>(owner_.remote()).share, counted);
}

void stream_channel::show_ready() noexcept {
    if (stored_.empty() || !owner_.program().is_owner() || ready_hook.is_linked()) return;
    slot_of<worker_streams>(owner_.owner()).ready.push_back(*this);
}

void stream_channel::note_unread(const stream_chunk& fresh) noexcept {
    const std::uint64_t bytes = ucs::sys::heap_cost(sizeof fresh + fresh.capacity);
    unread_ += bytes;
    owner_.owner().limits().take(slot_of<worker_streams>(owner_.owner()).unread,
                                 slot_of<peer_unread>(owner_.remote()).share, bytes);
}

ucs_status_t stream_channel::store(const std::byte* data, std::size_t length) {
    while (length > 0) {
        if (stored_.empty() || stored_.back().free_space() == 0) {
            stream_chunk* const fresh = stream_chunk::make(std::max(length, smallest_chunk));
            if (fresh == nullptr) {
                ucs::log::error(proto_log,
                                "out of memory: {} bytes of a stream cannot be stored, its "
                                "endpoint fails",
                                length);
                return UCS_ERR_NO_MEMORY;
            }
            stored_.push_back(*fresh);
            if (wireup::is_uninvited(owner_)) note_unread(*fresh);
        }
        stream_chunk& last = stored_.back();
        const std::size_t part = std::min(length, last.free_space());
        std::memcpy(last.bytes() + last.end, data, part);
        last.end += part;
        data += part;
        length -= part;
    }
    show_ready();
    return UCS_OK;
}

ucs_status_t stream_channel::arrived(const std::byte* data, std::size_t length) {
    if (length > granted_ - received_) return UCS_ERR_EXCEEDS_LIMIT;
    received_ += length;
    while (length > 0 && !waiting_.empty()) {
        request& front = waiting_.front();
        const std::size_t part = fill(front, data, length);
        data += part;
        length -= part;
        note_taken(part);
        if (!satisfied(front.state.stream, front.state.stream.received)) continue;
        waiting_.pop_front();
        finish(front, front.state.stream.outcome);
        if (waiting_.empty()) stream_receives_ended(owner_);
    }
    return length > 0 ? store(data, length) : UCS_OK;  // stored bytes make the endpoint ready
}

void* stream_channel::receive_address(std::size_t length) const noexcept {
    if (waiting_.empty()) return nullptr;
    const stream_recv_state& state = waiting_.front().state.stream;
    void* const base = state.buffer.contiguous();
    if (base == nullptr || length > state.buffer.capacity() - state.received) return nullptr;
    return static_cast<std::byte*>(base) + state.received;
}

ucs_status_t stream_channel::landed(std::size_t length) {
    if (length > granted_ - received_) return UCS_ERR_EXCEEDS_LIMIT;
    received_ += length;
    request& front = waiting_.front();
    front.state.stream.received += length;
    note_taken(length);
    if (satisfied(front.state.stream, front.state.stream.received)) {
        waiting_.pop_front();
        finish(front, front.state.stream.outcome);
        if (waiting_.empty()) stream_receives_ended(owner_);
    }
    return UCS_OK;
}

// Credits are sent in steps of half a window.
void stream_channel::note_taken(std::size_t length) {
    taken_ += length;
    const std::uint64_t limit = taken_ + window_;
    if (limit - granted_ < window_ / 2 || limit < granted_ || wireup::is_incoming_over(owner_))
        return;
    granted_ = limit;
    const wire::stream_credit_header header{owner_.remote_id(), limit};
    owner_.remote().control().send(wire::stream_credit, std::as_bytes(std::span(&header, 1)));
}

void stream_channel::end_receives(ucs_status_t status) {
    while (!waiting_.empty()) {
        request& receive = waiting_.front();
        waiting_.pop_front();
        finish(receive, status);
    }
}

}  // namespace ucp
