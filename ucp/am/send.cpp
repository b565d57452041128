#include "ucp/am/send.hpp"

#include <cstring>
#include <new>

#include "ucp/am/wire.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/message_state.hpp"
#include "ucp/proto/short_path.hpp"

namespace ucp {

namespace {

wire::am_fields fields_of(const am_message& message) noexcept {
    const bool reply = (message.flags & UCP_AM_SEND_FLAG_REPLY) != 0;
    return {message.id, reply ? wire::am_reply : std::uint16_t{0}, message.header_length};
}

// The payload that am_short can send together with the fields: the data, or the program's header if
// there is no data.
struct piece {
    const void* start = nullptr;
    std::size_t length = 0;
    bool all = false;  // the message has no other part
};

piece only_piece(const am_message& message, ucp_datatype_t datatype) noexcept {
    std::size_t length;
    if (!dt::is_contig(datatype) || !dt::contig_length(datatype, message.count, length)) return {};
    if (length == 0) return {message.header, message.header_length, true};
    return {message.buffer, length, message.header_length == 0 && message.buffer != nullptr};
}

send_kind kind_of(const am_message& message, std::size_t data_length) noexcept {
    // Empty data needs no rendezvous.
    if (data_length == 0 || (message.flags & UCP_AM_SEND_FLAG_EAGER) != 0)
        return send_kind::am_eager;
    return (message.flags & UCP_AM_SEND_FLAG_RNDV) != 0 ? send_kind::am_rndv : send_kind::am;
}

// Copies the program's header for UCP_AM_SEND_FLAG_COPY_HEADER: the program may change its header
// as soon as the call returns.
void copy_header(request& send) noexcept {
    auto& state = send.as<message_state>();
    auto* const copy = new (std::nothrow) std::byte[state.header_length];
    if (copy == nullptr) {
        ucs::log::error(proto_log,
                        "out of memory: no copy of the header of an active message, which is not "
                        "sent");
        abort_send(send, UCS_ERR_NO_MEMORY);
        return;
    }
    std::memcpy(copy, state.header, state.header_length);
    state.header = copy;
    state.owns_header = true;
}

ucs_status_ptr_t send_request(ep& to, const am_message& message, const operation& params) {
    if (params.force_immediate()) [[unlikely]]
        return UCS_STATUS_PTR(refuse_immediate(to));
    request* const send = begin_call(to.owner(), params);
    if (send == nullptr) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    set_send_callback(*send, params);
    const ucs_status_t status = describe_send<message_state>(*send, send_kind::am, message.buffer,
                                                             message.count, params.datatype());
    if (status != UCS_OK) return abandon_call(*send, status);
    auto& state = send->as<message_state>();
    state.first_word = wire::to_bits(fields_of(message));
    state.kind = kind_of(message, state.buffer.length());
    if (state.kind == send_kind::am_eager && state.buffer.on_device()) {
        // Without a rendezvous the receiver could not be told that the device has failed.
        if (const ucs_status_t staged = state.buffer.stage_data(); staged != UCS_OK)
            return abandon_call(*send, staged);
    }
    state.header = message.header;
    state.header_length = message.header_length;
    submit(to, *send);
    const bool goes_on = !send->flags.has(request_flags::ended);
    if (goes_on && (message.flags & UCP_AM_SEND_FLAG_COPY_HEADER) != 0 && state.header_length > 0 &&
        !state.header_sent) {
        copy_header(*send);
    }
    return end_call(*send, params);
}

}  // namespace

ucs_status_ptr_t am_send(ep& to, const am_message& message, const operation& params) {
    constexpr std::uint32_t not_short = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_RNDV;
    const piece one = only_piece(message, params.datatype());
    if (one.all && slot_of<short_path>(to).fits(one.length) && (message.flags & not_short) == 0 &&
        !params.no_immediate() && ucs::memory::is_host(one.start)) [[likely]] {
        const ucs_status_t status = to.lane().am_short(
            wire::am_only, wire::to_bits(fields_of(message)), one.start, one.length);
        if (status == UCS_OK) [[likely]] {
            if (params.has_user_request()) record_success(params.user_request(), to.owner());
            return nullptr;
        }
    }
    return send_request(to, message, params);
}

}  // namespace ucp
