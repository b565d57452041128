// Byte streams of the program. Every byte is computed from the stream's id and its offset. The
// first word is the id, so a reader can compute all later bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "test/sim/process.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/stream/wire.hpp"

namespace sim_test {

using ucp::capi::handle;

void process::act_on_stream(endpoint_record& endpoint) {
    const std::uint64_t choice = all_.dice.below(20);
    if (choice < 9) {
        write(endpoint);
    } else if (choice < 12) {
        read(endpoint, true);
    } else if (choice < 16) {
        read(endpoint, false);
    } else if (choice < 18) {
        take(endpoint);
    } else {
        read_ready();
    }
}

// The endpoint at the other end, if the peer's program has it.
endpoint_record* process::partner_of(const endpoint_record& which) const {
    process& peer = *all_.processes[which.to];
    if (which.closed || which.failed || peer.worker_ == nullptr) return nullptr;
    const ucp::ep* const found =
        peer.worker_->endpoints().find(ucp::capi::from(which.handle).remote_id());
    if (found == nullptr) return nullptr;
    for (const auto& each : peer.endpoints_) {
        const bool same = !each->closed && &ucp::capi::from(each->handle) == found;
        if (same && each->to == number_) return each.get();
    }
    return nullptr;
}

endpoint_record* process::writer_of(std::uint64_t stream) const {
    for (const auto& other : all_.processes) {
        for (const auto& each : other->endpoints_) {
            if (each->stream == stream) return each.get();
        }
    }
    return nullptr;
}

void process::write(endpoint_record& to) {
    // If there is no partner, the bytes may never be read: more than one window would wait for
    // ever.
    const std::size_t most =
        partner_of(to) == nullptr ? ucp::wire::first_stream_window : std::size_t{1} << 20U;
    const std::size_t wanted = all_.dice.chance(0.3) ? all_.dice.below(200'000) : some_size();
    const std::size_t length = std::min(wanted, most - std::min(most, to.written));
    if (length == 0) return;
    operation_record& op = new_operation(operation_kind::write);
    op.endpoint = to.number;
    op.peer = to.to;
    op.data = std::make_unique<payload>(some_layout(), length, all_.dice);
    op.data->fill_stream(to.stream, to.written);
    to.written += length;
    const ucp_request_param_t param = prepare(op);
    started(op, ucp_stream_send_nbx(to.handle, op.data->buffer(), op.data->count(), &param), param);
}

bool process::read(endpoint_record& from, bool at_once) {
    operation_record& op = new_operation(operation_kind::read);
    op.endpoint = from.number;
    op.peer = from.to;
    const std::size_t room = all_.dice.between(1, all_.dice.chance(0.7) ? 5000 : 100'000);
    op.data = std::make_unique<payload>(some_layout(), room, all_.dice);
    op.wait_all = all_.dice.chance(0.4);
    ucp_request_param_t param = prepare(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = op.wait_all ? static_cast<unsigned>(UCP_STREAM_RECV_FLAG_WAITALL) : 0U;
    if (at_once) {
        op.wait_all = false;
        param.flags = 0;
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    }
    from.reads.push_back(&op);
    std::size_t length = 0;
    const ucs_status_ptr_t result =
        ucp_stream_recv_nbx(from.handle, op.data->buffer(), op.data->count(), &length, &param);
    if (!UCS_PTR_IS_PTR(result)) op.received = length;
    return started(op, result, param);
}

void process::on_stream(void* request, ucs_status_t status, std::size_t length, void* arg) {
    auto& op = *static_cast<operation_record*>(arg);
    op.received = length;
    op.owner->completed(op, request, status);
}

// Reads available bytes in place. Returns false if there are none.
bool process::take(endpoint_record& from) {
    std::size_t length = 0;
    void* const data = ucp_stream_recv_data_nb(from.handle, &length);
    if (data == nullptr || UCS_PTR_IS_ERR(data)) return false;
    operation_record& op = new_operation(operation_kind::read);
    op.endpoint = from.number;
    op.peer = from.to;
    op.inside_call = false;
    op.data = std::make_unique<payload>(layout::bytes, length, all_.dice);
    std::memcpy(op.data->buffer(), data, length);
    op.received = length;
    from.reads.push_back(&op);
    all_.records.ended(op, UCS_OK);
    from.handed_out.push_back(data);
    // The library counts chunks as unread until they are released, and a writer may wait for them.
    if (draining_ || all_.dice.chance(0.5)) release_chunks(from);
    return true;
}

void process::release_chunks(endpoint_record& endpoint) {
    for (void* each : endpoint.handed_out)
        ucp_stream_data_release(endpoint.handle, each);
    endpoint.handed_out.clear();
}

// Reads from endpoints that the worker lists as readable.
unsigned process::read_ready() {
    ucp_stream_poll_ep_t ready[3];
    const ssize_t count = ucp_stream_worker_poll(handle(*worker_), ready, std::size(ready), 0);
    for (ssize_t i = 0; i < count; ++i) {
        const auto found = std::find_if(
            endpoints_.begin(), endpoints_.end(),
            [&](const auto& each) { return !each->closed && each->handle == ready[i].ep; });
        // A callback of the previous read may have read or closed this endpoint.
        const bool got = found != endpoints_.end() &&
                         (all_.dice.chance(0.5) ? take(**found) : read(**found, true));
        if (i == 0 && !got) {
            all_.records.violation(
                fmt::format("worker {} lists an endpoint that has no bytes", number_));
        }
    }
    return static_cast<unsigned>(std::max<ssize_t>(count, 0));
}

// Receives end in the order of their calls, but those without callback are tested later.
void process::check_reads(endpoint_record& endpoint) {
    while (!endpoint.reads.empty() && endpoint.reads.front()->done) {
        operation_record& first = *endpoint.reads.front();
        endpoint.reads.pop_front();
        check_read(endpoint, first);
        first.data.reset();
    }
}

void process::check_read(endpoint_record& endpoint, const operation_record& receive) {
    model& records = all_.records;
    const std::size_t length = receive.received;
    const std::size_t room = receive.data->length();
    const bool words = receive.data->datatype() == ucp_dt_make_contig(4);
    const bool too_few =
        length == 0 || (receive.wait_all && length < room) || (words && length % 4 != 0);
    if (length > room || (receive.status == UCS_OK && too_few)) {
        records.violation(
            fmt::format("got {} bytes of {}: {}", length, room, records.text(receive)));
        return;
    }
    if (length == 0 || (endpoint.source == nullptr && !find_writer(endpoint, receive))) {
        endpoint.read += length;
        return;
    }
    // If the receive failed, the buffer may hold further bytes beyond `length`.
    const bool right =
        receive.status == UCS_OK
            ? receive.data->holds_stream(endpoint.source->stream, endpoint.read, length)
            : receive.data->begins_with_stream(endpoint.source->stream, endpoint.read, length);
    if (!right || length > endpoint.source->written - endpoint.read) {
        records.violation(fmt::format("not bytes {} to {} of stream {}, which has {}: {}",
                                      endpoint.read, endpoint.read + length,
                                      endpoint.source->stream, endpoint.source->written,
                                      records.text(receive)));
    }
    endpoint.read += length;
}

// Finds the stream by its first word, which may come in parts. A stream has one reader, at its
// other end.
bool process::find_writer(endpoint_record& endpoint, const operation_record& receive) {
    constexpr std::size_t word = sizeof endpoint.first_word;
    const std::vector<std::byte> bytes = receive.data->packed();
    for (std::size_t i = 0; i < receive.received && endpoint.read + i < word; ++i)
        endpoint.first_word |= std::to_integer<std::uint64_t>(bytes[i])
                               << (8 * (endpoint.read + i));
    if (endpoint.read + receive.received < word) return false;
    endpoint.source = writer_of(endpoint.first_word);
    if (endpoint.source != nullptr && endpoint.source->to == number_ &&
        endpoint.source->owner->number_ == endpoint.to &&
        !std::exchange(endpoint.source->has_reader, true)) {
        return true;
    }
    all_.records.violation(fmt::format("endpoint {} of worker {} reads stream {} of another",
                                       endpoint.number, number_, endpoint.first_word));
    endpoint.source = nullptr;
    return false;
}

void process::note_streams() {
    for (const auto& each : endpoints_) {
        if (!all_.records.disturbed(number_, each->to)) each->reads_all = partner_of(*each);
    }
}

void process::check_streams() {
    for (const auto& each : endpoints_) {
        if (each->reads_all == nullptr || each->reads_all->read == each->written) continue;
        all_.records.violation(
            fmt::format("of {} bytes of stream {} from worker {} to worker {}, {} were read",
                        each->written, each->stream, number_, each->to, each->reads_all->read));
    }
}

}  // namespace sim_test
