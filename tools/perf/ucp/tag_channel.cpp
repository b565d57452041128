#include "tools/perf/ucp/tag_channel.hpp"

#include <fmt/format.h>

namespace tools::perf {
namespace {

constexpr ucp_tag_t message_tag = 0x1000'0000;
constexpr ucp_tag_t acknowledge_tag = 0x2000'0000;
constexpr ucp_tag_t every_bit = ~ucp_tag_t{0};

}  // namespace

tag_channel::tag_channel(const connection& conn, unsigned window, tag_send mode)
    : ucp_channel(conn, window, conn.thread),
      mode_(mode),
      tag_(message_tag + conn.thread),
      ack_tag_(acknowledge_tag + conn.thread),
      mask_(conn.params.wildcard ? 0 : every_bit) {
    // Validation checks length and tag in the callback, so force its call: OpenUCX 1.13 does not
    // set recv_info if a receive completes at once.
    if (validates()) recv_param_.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    recv_param_.cb.recv = &tag_channel::on_received;
}

ucs_status_ptr_t tag_channel::post_send(const slot& message, const ucp_request_param_t& param) {
    void* buffer = send_memory_.buffer(message.index);
    const std::size_t count = send_memory_.count();
    return mode_ == tag_send::sync ? ucp_tag_send_sync_nbx(conn_.ep, buffer, count, tag_, &param)
                                   : ucp_tag_send_nbx(conn_.ep, buffer, count, tag_, &param);
}

void tag_channel::wait_for_arrival() {
    ucp_tag_recv_info_t info{};
    loop_.until([&] { return ucp_tag_probe_nb(conn_.worker, tag_, mask_, 0, &info) != nullptr; });
}

void tag_channel::receive() {
    if (conn_.params.unexpected) wait_for_arrival();
    slot& message = take_receive_slot();
    recv_param_.user_data = &message;
    receives_.started();
    ucs_status_ptr_t request = ucp_tag_recv_nbx(conn_.worker, recv_memory_.buffer(message.index),
                                                recv_memory_.count(), tag_, mask_, &recv_param_);
    if (!UCS_PTR_IS_PTR(request)) {
        check("receive", UCS_PTR_STATUS(request));
        receives_.ended_at_once();
    }
    throw_if_failed();
}

void tag_channel::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                              void* arg) {
    auto& done = *static_cast<slot*>(arg);
    auto& self = static_cast<tag_channel&>(*done.owner);
    if (self.validates() && status == UCS_OK && info->sender_tag != self.tag_) {
        self.fail(
            fmt::format("validation: message {} of thread {} came with tag {:#x} where {:#x} "
                        "was sent",
                        done.number, self.conn_.thread, info->sender_tag, self.tag_));
    }
    const std::size_t length = status == UCS_OK ? info->length : 0;
    ucp_request_free(request);
    self.receive_ended(done, status, length, true);
}

void tag_channel::acknowledge() {
    const ucp_request_param_t param{};
    finish(ucp_tag_send_nbx(conn_.ep, nullptr, 0, ack_tag_, &param), "sending the acknowledgement");
}

void tag_channel::wait_acknowledgement() {
    const ucp_request_param_t param{};
    finish(ucp_tag_recv_nbx(conn_.worker, nullptr, 0, ack_tag_, every_bit, &param),
           "receiving the acknowledgement");
}

}  // namespace tools::perf
