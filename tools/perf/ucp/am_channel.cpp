#include "tools/perf/ucp/am_channel.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"

namespace tools::perf {
namespace {

// Two ids for each thread.
constexpr unsigned first_id = 1;

// The content of a header continues that of the longest possible message.
constexpr std::size_t header_offset = max_message;

}  // namespace

am_channel::am_channel(const connection& conn, unsigned window)
    : ucp_channel(conn, window, conn.thread),
      id_(first_id + conn.thread * 2),
      ack_id_(id_ + 1),
      header_length_(conn.params.header.value_or(0)),
      copies_(conn.params.extra_copy),
      fetches_all_(conn.params.receive == receive_mode::recv_data),
      headers_(memory_of_buffers(validates() ? window : 1, header_length_, conn.params.threads)) {
    check_header_length();
    recv_param_.cb.recv_am = &am_channel::on_fetched;
    // Data that arrived with its message can be fetched later only if the handler may keep it.
    set_handler(id_, fetches_all_ ? static_cast<std::uint32_t>(UCP_AM_FLAG_PERSISTENT_DATA) : 0,
                &am_channel::on_message);
    set_handler(ack_id_, 0, &am_channel::on_acknowledgement);
}

am_channel::~am_channel() {
    for (const unsigned id : {id_, ack_id_}) {
        ucp_am_handler_param_t param{};
        param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
        param.id = id;
        ucp_worker_set_am_recv_handler(conn_.worker, &param);
    }
}

void am_channel::set_handler(unsigned id, std::uint32_t flags, ucp_am_recv_callback_t handler) {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = id;
    param.flags = flags;
    param.cb = handler;
    param.arg = this;
    require_ok(ucp_worker_set_am_recv_handler(conn_.worker, &param),
               fmt::format("ucp_worker_set_am_recv_handler({})", id));
}

void am_channel::check_header_length() const {
    ucp_worker_attr_t attr{};
    attr.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    require_ok(ucp_worker_query(conn_.worker, &attr), "ucp_worker_query");
    if (header_length_ <= attr.max_am_header) return;
    throw failure(
        fmt::format("-H: headers have at most {} bytes in this library", attr.max_am_header));
}

ucs_status_ptr_t am_channel::post_send(const slot& message, const ucp_request_param_t& param) {
    const std::span<std::byte> header = header_of(message);
    if (validates()) outgoing(message.number).fill(header, header_offset);
    return ucp_am_send_nbx(conn_.ep, id_, header.data(), header.size(),
                           send_memory_.buffer(message.index), send_memory_.count(), &param);
}

ucs_status_t am_channel::on_message(void* arg, const void* header, std::size_t header_length,
                                    void* data, std::size_t length,
                                    const ucp_am_recv_param_t* param) {
    auto& self = *static_cast<am_channel*>(arg);
    std::uint64_t number = 0;
    if (self.validates()) {
        number = self.next_arrival_++;
        self.verify_header({static_cast<const std::byte*>(header), header_length}, number);
    }
    const bool announced = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    if (announced || self.fetches_all_) return self.fetch(data, length, number);
    self.process_data({static_cast<const std::byte*>(data), length}, number);
    self.receives_.ended_by_callback();
    return UCS_OK;
}

void am_channel::process_data(std::span<const std::byte> data, std::uint64_t number) {
    if (copies_) recv_memory_.copy_in(0, data);
    if (!validates() || !has_expected_length(number, data.size())) return;
    const pattern content = incoming(number);
    const auto mismatch =
        copies_ ? recv_memory_.find_difference(0, content) : content.find_difference(data, 0);
    if (mismatch) fail_mismatch(number, *mismatch, content);
}

ucs_status_t am_channel::fetch(void* data, std::size_t length, std::uint64_t number) {
    if (!has_receive_slot()) {
        fail("more messages were announced at a time than can be in flight");
        return UCS_OK;  // drops the message
    }
    slot& message = take_receive_slot();
    message.number = number;
    recv_param_.user_data = &message;
    ucs_status_ptr_t request = ucp_am_recv_data_nbx(
        conn_.worker, data, recv_memory_.buffer(message.index), recv_memory_.count(), &recv_param_);
    if (UCS_PTR_IS_PTR(request)) return UCS_INPROGRESS;
    receive_ended(message, UCS_PTR_STATUS(request), length, true);
    return UCS_OK;
}

void am_channel::on_fetched(void* request, ucs_status_t status, std::size_t length, void* arg) {
    auto& done = *static_cast<slot*>(arg);
    auto& self = static_cast<am_channel&>(*done.owner);
    ucp_request_free(request);
    self.receive_ended(done, status, length, true);
}

void am_channel::verify_header(std::span<const std::byte> header, std::uint64_t number) {
    if (header.size() != header_length_) {
        return fail(
            fmt::format("validation: message {} of thread {} came with {} bytes of header "
                        "where {} were sent",
                        number, conn_.thread, header.size(), header_length_));
    }
    const auto mismatch = incoming(number).find_difference(header, header_offset);
    if (!mismatch) return;
    fail(
        fmt::format("validation: the header of message {} of thread {} is wrong at offset {} of {}",
                    number, conn_.thread, *mismatch - header_offset, header_length_));
}

ucs_status_t am_channel::on_acknowledgement(void* arg, const void*, std::size_t, void*, std::size_t,
                                            const ucp_am_recv_param_t*) {
    static_cast<am_channel*>(arg)->acknowledgements_.ended_by_callback();
    return UCS_OK;
}

void am_channel::acknowledge() {
    const ucp_request_param_t param{};
    finish(ucp_am_send_nbx(conn_.ep, ack_id_, nullptr, 0, nullptr, 0, &param),
           "sending the acknowledgement");
}

void am_channel::wait_acknowledgement() {
    acknowledgements_.started();
    loop_.until([this] { return acknowledgements_.count() == 0; });
}

}  // namespace tools::perf
