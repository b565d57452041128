// The program's active messages: sends, handlers, and what handlers keep.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "test/sim/process.hpp"
#include "ucp/am/receiver.hpp"
#include "ucp/capi/handles.hpp"

namespace sim_test {

using ucp::capi::handle;

namespace {

// Handlers by id: their flags, and whether they receive messages in the order of the sends.
struct handler_row {
    std::uint32_t flags;
    bool in_order;
};
constexpr handler_row handlers[] = {
    {0, true}, {UCP_AM_FLAG_PERSISTENT_DATA, true}, {UCP_AM_FLAG_WHOLE_MSG, false}};

std::byte header_byte(ucp_tag_t tag, std::size_t index) {
    return static_cast<std::byte>((tag * 13 + index * 5) & 0xff);
}

// The header is the message's tag, then bytes that are computed from it.
std::vector<std::byte> make_header(ucp_tag_t tag, std::size_t length) {
    std::vector<std::byte> header(sizeof tag + length);
    std::memcpy(header.data(), &tag, sizeof tag);
    for (std::size_t i = sizeof tag; i < header.size(); ++i)
        header[i] = header_byte(tag, i);
    return header;
}

}  // namespace

void process::install_handlers() {
    for (unsigned id = 0; id < std::size(handlers); ++id) {
        ucp_am_handler_param_t param{};
        param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                           UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
        param.id = id;
        param.flags = handlers[id].flags;
        param.cb = on_active;
        param.arg = this;
        if (ucp_worker_set_am_recv_handler(handle(*worker_), &param) != UCS_OK) {
            all_.records.violation("a handler cannot be set");
        }
    }
}

void process::send_active(endpoint_record& to) {
    operation_record& op = new_operation(operation_kind::send);
    op.endpoint = to.number;
    op.handles_errors = to.handles_errors;
    op.data = std::make_unique<payload>(some_layout(), some_size(), all_.dice);
    const unsigned id = static_cast<unsigned>(all_.dice.below(std::size(handlers)));
    op.message = &all_.records.add_message(to.stream, id, number_, to.to, op.data->length());
    op.message->sent_by = &op;
    op.message->active = true;
    op.data->fill(op.message->tag);
    const std::size_t room = slot_of<ucp::am_receiver>(*worker_).max_header() - sizeof(ucp_tag_t);
    op.header =
        make_header(op.message->tag, all_.dice.below(all_.dice.chance(0.8) ? 20 : room + 1));
    ucp_request_param_t param = prepare(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    const std::uint64_t protocol = all_.dice.below(4);
    param.flags = (protocol == 0   ? static_cast<unsigned>(UCP_AM_SEND_FLAG_EAGER)
                   : protocol == 1 ? static_cast<unsigned>(UCP_AM_SEND_FLAG_RNDV)
                                   : 0U) |
                  (all_.dice.chance(0.3) ? static_cast<unsigned>(UCP_AM_SEND_FLAG_REPLY) : 0U);
    std::vector<std::byte> passing;
    const bool copied = all_.dice.chance(0.3);
    if (copied) {
        passing = op.header;
        param.flags |= UCP_AM_SEND_FLAG_COPY_HEADER;
    }
    const std::vector<std::byte>& header = copied ? passing : op.header;
    const ucs_status_ptr_t result = ucp_am_send_nbx(to.handle, id, header.data(), header.size(),
                                                    op.data->buffer(), op.data->count(), &param);
    std::fill(passing.begin(), passing.end(), std::byte{0xdd});
    started(op, result, param);
}

ucs_status_t process::on_active(void* arg, const void* header, std::size_t header_length,
                                void* data, std::size_t length, const ucp_am_recv_param_t* param) {
    auto& self = *static_cast<process*>(arg);
    model& records = self.all_.records;
    ucp_tag_t tag = 0;
    if (header_length >= sizeof tag) std::memcpy(&tag, header, sizeof tag);
    const std::size_t id = static_cast<std::size_t>(tag >> 48U) % std::size(handlers);
    message_record* const message =
        records.arrived(tag, self.number_, length, handlers[id].in_order);
    if (message == nullptr) return UCS_OK;
    const auto* bytes = static_cast<const std::byte*>(header);
    for (std::size_t i = sizeof tag; i < header_length; ++i) {
        if (bytes[i] == header_byte(tag, i)) continue;
        records.violation(fmt::format("the header of message {:x} is wrong at {}", tag, i));
        break;
    }
    return self.arrived(*message, data, *param);
}

ucs_status_t process::arrived(message_record& message, void* data,
                              const ucp_am_recv_param_t& param) {
    operation_record& op = new_operation(operation_kind::arrival);
    op.message = &message;
    op.done = true;
    op.status = UCS_OK;
    message.taken_by = &op;
    if ((param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
        const std::uint64_t choice = quiet_ ? 0 : all_.dice.below(10);
        if (choice < 3) {
            receive_kept(message, data);
            return UCS_INPROGRESS;
        }
        if (choice < 8) {
            kept_.push_back({&message, data, true});
            return UCS_INPROGRESS;
        }
        if (choice < 9) return UCS_OK;
        message.refused = true;
        return UCS_ERR_NO_RESOURCE;
    }
    payload seen(layout::bytes, message.length, all_.dice);
    if (message.length > 0) std::memcpy(seen.buffer(), data, message.length);
    if (!seen.holds(message.tag, message.length)) {
        all_.records.violation(fmt::format("the data of message {:x} is wrong", message.tag));
    }
    const bool keep =
        (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0 && !quiet_ && all_.dice.chance(0.5);
    if (!keep) return UCS_OK;
    kept_.push_back({&message, data, false});
    return UCS_INPROGRESS;
}

// Receives or releases kept data at random; all of it during draining.
void process::receive_kept_messages() {
    while (!kept_.empty() && (draining_ || all_.dice.chance(0.05))) {
        const kept_message next = kept_.back();
        kept_.pop_back();
        if (all_.dice.chance(0.2)) {
            ucp_am_data_release(handle(*worker_), next.data);
        } else {
            receive_kept(*next.message, next.data);
        }
    }
}

void process::receive_kept(message_record& message, void* data) {
    operation_record& op = new_operation(operation_kind::data_receive);
    op.message = &message;
    const std::size_t room =
        all_.dice.chance(0.8) ? message.length : all_.dice.below(message.length + 2);
    op.data = std::make_unique<payload>(some_layout(), room, all_.dice);
    const ucp_request_param_t param = prepare(op);
    started(
        op,
        ucp_am_recv_data_nbx(handle(*worker_), data, op.data->buffer(), op.data->count(), &param),
        param);
}

void process::on_data(void* request, ucs_status_t status, std::size_t, void* arg) {
    auto& op = *static_cast<operation_record*>(arg);
    op.owner->completed(op, request, status);
}

}  // namespace sim_test
