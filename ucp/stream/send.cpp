#include "ucp/stream/send.hpp"

#include <cstring>

#include "ucp/proto/short_path.hpp"
#include "ucp/stream/endpoint.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

namespace {

void write_header(const request& send, void* into) {
    const wire::stream_data_header header{send.via->remote_id()};
    std::memcpy(into, &header, sizeof header);
}

constexpr fragment_writer fragments{wire::stream_data, sizeof(wire::stream_data_header),
                                    write_header};

// Ends the send when all its bytes are handed over, or when the rest will not be sent. An empty
// send has no turn to pass.
void end(request& send, ucs_status_t status) {
    ep& via = *send.via;
    if (send.state.send.buffer.length() > 0) stream_of(via).sends.pass_turn();
    const send_state& state = send.state.send;
    // The device has failed; a reader that is gone misses nothing.
    const bool leaves_gap =
        status != UCS_OK && state.buffer.on_device() && state.offset > 0 && !is_reader_gone(via);
    end_fragments(send, status);
    // Bytes are missing in the stream, so no later ones may follow.
    if (leaves_gap && via.failure() == UCS_OK) wireup::handle(via, wireup::event::failure, status);
}

// Sends as many bytes as the credits allow; the rest waits in the stream.
ucs_status_t progress(request& send) {
    auto& state = send.as<stream_send_state>();
    stream_sends& stream = stream_of(*send.via).sends;
    const std::size_t length = state.buffer.length();
    if (!std::exchange(state.started, true)) {
        begin_fragments(send, 0, [](request& done) { finish_send(done, UCS_OK); });
    }
    while (state.offset < length) {
        const std::size_t granted = stream.grant(length - state.offset);
        // The peer's program has closed, so a send that waits for credits would wait for ever.
        const bool first = stream.has_turn(state.number);
        if (first && granted == 0 && is_reader_gone(*send.via)) {
            end(send, UCS_ERR_CONNECTION_RESET);
            return UCS_OK;
        }
        if (!first || granted == 0) {
            stream.block(send);
            return UCS_OK;
        }
        const std::size_t before = state.offset;
        state.end = before + granted;
        const ucs_status_t status = send_fragment(send, fragments);
        stream.note_sent(state.offset - before);
        if (status == UCS_ERR_NO_RESOURCE) return status;
        if (status == UCS_INPROGRESS) return UCS_OK;
        if (status != UCS_OK) {
            end(send, status);
            return UCS_OK;
        }
    }
    end(send, UCS_OK);
    return UCS_OK;
}

void abandon(request& send) {
    stream_of(*send.via).sends.unblock(send);
}

constinit const protocol stream_fragments{
    "stream", "copied in fragments, as far as the receiver has room", nullptr, progress, false,
    abandon};

ucs_status_ptr_t send_request(ep& to, const void* buffer, std::size_t count,
                              const operation& params) {
    if (params.force_immediate()) [[unlikely]]
        return UCS_STATUS_PTR(refuse_immediate(to));
    request* const send = begin_call(to.owner(), params);
    if (send == nullptr) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    set_send_callback(*send, params);
    const ucs_status_t status = describe_send<stream_send_state>(*send, send_kind::stream, buffer,
                                                                 count, params.datatype());
    if (status != UCS_OK) return abandon_call(*send, status);
    auto& state = send->as<stream_send_state>();
    state.proto = &stream_fragments;
    if (state.buffer.length() > 0) state.number = stream_of(to).sends.next_number();
    submit(to, *send);
    return end_call(*send, params);
}

}  // namespace

ucs_status_ptr_t stream_send(ep& to, const void* buffer, std::size_t count,
                             const operation& params) {
    stream_sends& stream = stream_of(to).sends;
    const ucp_datatype_t datatype = params.datatype();
    std::size_t length;
    if (dt::is_contig(datatype) && dt::contig_length(datatype, count, length) &&
        slot_of<short_path>(to).fits(length) && stream.may_send(length) && !params.no_immediate() &&
        (buffer != nullptr || length == 0) && ucs::memory::is_host(buffer)) [[likely]] {
        const ucs_status_t status =
            length == 0 ? UCS_OK
                        : to.lane().am_short(wire::stream_data, to.remote_id(), buffer, length);
        if (status == UCS_OK) [[likely]] {
            stream.note_sent(length);
            if (params.has_user_request()) record_success(params.user_request(), to.owner());
            return nullptr;
        }
    }
    return send_request(to, buffer, count, params);
}

}  // namespace ucp
