#include "tools/perf/ucp/tag_channel.hpp"

#include <fmt/format.h>

namespace tools::perf {
namespace {

constexpr ucp_tag_t message_tag = 0x1000'0000;
constexpr ucp_tag_t acknowledge_tag = 0x2000'0000;
constexpr ucp_tag_t every_bit = ~ucp_tag_t{0};

}  // namespace

tag_channel::tag_channel(const connection& on, unsigned window, tag_send how)
    : ucp_channel(on, window, on.thread),
      how_(how),
      tag_(message_tag + on.thread),
      ack_tag_(acknowledge_tag + on.thread),
      mask_(on.params.wildcard ? 0 : every_bit) {
    // Length and tag are to be checked, so they must come to the callback: OpenUCX 1.13 leaves
    // recv_info alone when a receive completes at once.
    if (validates()) recv_param_.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    recv_param_.cb.recv = &tag_channel::on_received;
}

ucs_status_ptr_t tag_channel::post_send(const slot& with, const ucp_request_param_t& param) {
    void* buffer = send_memory_.buffer(with.index);
    const std::size_t count = send_memory_.count();
    return how_ == tag_send::sync ? ucp_tag_send_sync_nbx(on_.ep, buffer, count, tag_, &param)
                                  : ucp_tag_send_nbx(on_.ep, buffer, count, tag_, &param);
}

void tag_channel::wait_for_arrival() {
    ucp_tag_recv_info_t info{};
    loop_.until([&] { return ucp_tag_probe_nb(on_.worker, tag_, mask_, 0, &info) != nullptr; });
}

void tag_channel::receive() {
    if (on_.params.unexpected) wait_for_arrival();
    slot& with = take_receive_slot();
    recv_param_.user_data = &with;
    receives_.started();
    ucs_status_ptr_t request = ucp_tag_recv_nbx(on_.worker, recv_memory_.buffer(with.index),
                                                recv_memory_.count(), tag_, mask_, &recv_param_);
    if (!UCS_PTR_IS_PTR(request)) {
        check("receive", UCS_PTR_STATUS(request));
        receives_.ended_at_once();
    }
    throw_if_failed();
}

void tag_channel::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                              void* arg) {
    auto& of = *static_cast<slot*>(arg);
    auto& self = static_cast<tag_channel&>(*of.owner);
    if (self.validates() && status == UCS_OK && info->sender_tag != self.tag_) {
        self.fail(
            fmt::format("validation: message {} of thread {} came with tag {:#x} where {:#x} "
                        "was sent",
                        of.number, self.on_.thread, info->sender_tag, self.tag_));
    }
    const std::size_t length = status == UCS_OK ? info->length : 0;
    ucp_request_free(request);
    self.receive_ended(of, status, length, true);
}

void tag_channel::acknowledge() {
    const ucp_request_param_t param{};
    finish(ucp_tag_send_nbx(on_.ep, nullptr, 0, ack_tag_, &param), "sending the acknowledgement");
}

void tag_channel::wait_acknowledgement() {
    const ucp_request_param_t param{};
    finish(ucp_tag_recv_nbx(on_.worker, nullptr, 0, ack_tag_, every_bit, &param),
           "receiving the acknowledgement");
}

}  // namespace tools::perf
